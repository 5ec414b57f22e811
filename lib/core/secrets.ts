/** Secrets at rest: AES-256-GCM under a key that is kept outside the database (decisions 3.5). */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Secrets {
  /** Text to `v1.<iv>.<ciphertext and tag>`. `place` binds it: sealed text moved elsewhere does not open. */
  seal(text: string, place: string): string
  /** Throws when the key is not the one that sealed it, or the text was moved or changed. */
  open(sealed: string, place: string): string
  /** A keyed digest, to notice a change of a secret without keeping it. */
  fingerprint(text: string): string
}

const KEY_FILE = join('keys', 'secret-key')
const IV = 12
const TAG = 16

export function openSecrets(key: Buffer, random: (bytes: number) => Buffer): Secrets {
  if (key.length !== 32) throw new Error('the secret key must be 32 bytes')
  return {
    seal(text, place) {
      const iv = random(IV)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${iv.toString('base64url')}.${body.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, iv, body] = sealed.split('.')
      if (version !== 'v1' || !iv || !body) throw new Error('this is no sealed text')
      const bytes = Buffer.from(body, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url')).setAAD(Buffer.from(place))
      decipher.setAuthTag(bytes.subarray(-TAG))
      return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()]).toString('utf8')
    },
    fingerprint: (text) => createHmac('sha256', key).update(text).digest('base64url'),
  }
}

/**
 * The key of a state folder, from the environment's text (64 hex digits) or the folder's own file, which is made on a
 * fresh folder only: a new key over existing data would make every stored secret unreadable.
 */
export function loadSecretKey(dir: string, options: { fresh: boolean; fromEnvironment?: string; random: (bytes: number) => Buffer }): Buffer {
  if (options.fromEnvironment !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(options.fromEnvironment)) throw new Error('QUARTERMASTER_SECRET_KEY must be 64 hex digits')
    return Buffer.from(options.fromEnvironment, 'hex')
  }
  const path = join(dir, KEY_FILE)
  if (existsSync(path)) {
    const text = readFileSync(path, 'utf8').trim()
    if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} is damaged: restore it from your own copy`)
    return Buffer.from(text, 'hex')
  }
  if (!options.fresh) throw new Error(`${path} is missing, and the database holds secrets sealed with it: restore the file from your own copy`)
  const key = options.random(32)
  writeKeyFile(path, key.toString('hex'))
  return key
}

/** Writes a file that only its owner reads, whole or not at all, and on the disk before anything depends on it. */
export function writeKeyFile(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  const file = openSync(draft, 'w', 0o600)
  try {
    writeSync(file, `${text}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, path)
  const entries = openSync(folder, 'r')
  fsyncSync(entries)
  closeSync(entries)
}
