/** Which names of members tell of a credential, where a document is open to anything. */

const CREDENTIAL =
  /^(key|pass|pwd)$|(password|passwd|passphrase|passcode|secret|token|apikey|secretkey|privatekey|accesskey|authkey|merchantkey|transactionkey|consumerkey|clientkey)$|(user|ftp|api|db)pass$/

/** Whether a member is taken for a credential by its name, however that is spelled. */
export function soundsSecret(name: string): boolean {
  return CREDENTIAL.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}
