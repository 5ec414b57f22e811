/** Which names of members tell of a credential, where a document is open to anything. */

const SECRETS = 'password|passwd|passphrase|passcode|secret|token'
const KEYS = '(?:api|secret|private|access|auth|merchant|transaction|consumer|client)key'
const CREDENTIAL = new RegExp(`^(key|pass|pwd)$|(${SECRETS}|${KEYS})$|(user|ftp|api|db)pass$`)

/** Whether a member is taken for a credential by its name, however that is spelled. */
export function soundsSecret(name: string): boolean {
  return CREDENTIAL.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}
