/**
 * Secrets at rest, in envelopes: each owner's texts are sealed with AES-256-GCM under a data key of
 * its own, and the data keys are wrapped by the secret key of the installation, which is kept
 * outside the database.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeWholeNow } from './durable.js'
import { codeOf } from '../errors.js'

/** Seals the texts of one owner. */
export interface Sealer {
  /** `place` binds the text: sealed text moved elsewhere does not open. */
  seal(text: string, place: string): string
  /** Throws when another key sealed it, or the text was moved or changed. */
  open(sealed: string, place: string): string
  /** A keyed digest, to notice a change of a secret without keeping it. */
  fingerprint(text: string): string
}

export interface Secrets {
  /** The sealer of a subscriber's id, or of `OPERATOR`. */
  of(owner: string): Sealer
  /** The id of the secret key that wraps new data keys. */
  readonly keyId: string
  /** A new data key for an owner, wrapped, as the database keeps it. */
  newDataKey(owner: string): string
  /** Told that the secret key was replaced. */
  replaceKey(vault: Vault): void
}

/** Owner of what belongs to no subscriber, such as the feed sources of the operator. */
export const OPERATOR = 'operator'

/** The secret key of an installation: wraps and unwraps data keys. */
export interface Vault {
  /** Tells the keys apart without telling anything of them. */
  readonly id: string
  newDataKey(owner: string): string
  /** Throws when another key wrapped it, or it belongs to another owner. */
  unwrap(wrapped: string, owner: string): Buffer
  /** The same data key under another secret key. */
  rewrap(wrapped: string, owner: string, to: Vault): string
  wrap(dataKey: Buffer, owner: string): string
}

type Random = (bytes: number) => Buffer

const KEY = 32
const IV = 12
const TAG = 16

export function openVault(key: Buffer, random: Random): Vault {
  if (key.length !== KEY) throw new Error('the secret key must be 32 bytes')
  const id = createHmac('sha256', key).update('id of the secret key').digest('hex').slice(0, 16)
  const place = (owner: string) => `data key of ${owner}`
  const vault: Vault = {
    id,
    wrap: (dataKey, owner) => `k1.${id}.${encrypt(key, dataKey, place(owner), random)}`,
    unwrap(wrapped, owner) {
      const [version, by, iv, body] = wrapped.split('.')
      if (version !== 'k1' || by !== id)
        throw new Error(`a data key was wrapped by the secret key ${by}, not by ${id}`)
      return decrypt(key, `${iv}.${body}`, place(owner))
    },
    newDataKey: (owner) => vault.wrap(random(KEY), owner),
    rewrap: (wrapped, owner, to) => to.wrap(vault.unwrap(wrapped, owner), owner),
  }
  return vault
}

/** Seals under one data key. */
export function makeSealer(dataKey: Buffer, random: Random): Sealer {
  return {
    seal: (text, place) => `s1.${encrypt(dataKey, Buffer.from(text), place, random)}`,
    open(sealed, place) {
      if (!sealed.startsWith('s1.')) throw new Error('this is not a sealed text')
      return decrypt(dataKey, sealed.slice(3), place).toString('utf8')
    },
    fingerprint: (text) => createHmac('sha256', dataKey).update(text).digest('base64url'),
  }
}

/** `<iv>.<ciphertext and tag>`; a random IV of 96 bits each time. */
function encrypt(key: Buffer, bytes: Buffer, place: string, random: Random): string {
  const iv = random(IV)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  return `${iv.toString('base64url')}.${sealed.toString('base64url')}`
}

function decrypt(key: Buffer, text: string, place: string): Buffer {
  const [iv, body] = text.split('.').map((part) => Buffer.from(part, 'base64url'))
  if (!iv || !body || iv.length !== IV || body.length < TAG)
    throw new Error('this is not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG }).setAAD(
    Buffer.from(place),
  )
  decipher.setAuthTag(body.subarray(-TAG))
  return Buffer.concat([decipher.update(body.subarray(0, -TAG)), decipher.final()])
}

const keyFile = (dir: string) => join(dir, 'keys', 'secret-key')
/** A key that is taking over: it stands beside the old one until the database knows it. */
const nextKeyFile = (dir: string) => join(dir, 'keys', 'secret-key.next')

/**
 * The secret key of a state folder, from the environment's text (64 hex digits) or the folder's own
 * file, which is made on a fresh folder only: a new key over existing data would make every stored
 * secret unreadable.
 */
export function loadSecretKey(
  dir: string,
  options: { fresh: boolean; fromEnvironment?: string; random: Random },
): Buffer {
  if (options.fromEnvironment !== undefined) {
    if (!/^[0-9a-f]{64}$/i.test(options.fromEnvironment))
      throw new Error('QUARTERMASTER_SECRET_KEY must be 64 hex digits')
    return Buffer.from(options.fromEnvironment, 'hex')
  }
  const path = keyFile(dir)
  if (existsSync(path)) return readKeyFile(path)
  if (!options.fresh)
    throw new Error(
      `${path} is missing, and the database holds secrets sealed with it: restore the file ` +
        'from your own copy',
    )
  const key = options.random(KEY)
  writeKeyFile(path, key.toString('hex'))
  return key
}

function readKeyFile(path: string): Buffer {
  const text = readFileSync(path, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(`${path} is damaged: restore it from your own copy`)
  return Buffer.from(text, 'hex')
}

/**
 * Lays a new secret key beside the old one; the database is told next, and then `settleNextKey`
 * makes it the one.
 */
export function writeNextKey(dir: string, key: Buffer): void {
  writeKeyFile(nextKeyFile(dir), key.toString('hex'))
}

/** The key that a rotation left beside the old one when it was cut off; null when there is none. */
export function readNextKey(dir: string): Buffer | null {
  try {
    return existsSync(nextKeyFile(dir)) ? readKeyFile(nextKeyFile(dir)) : null
  } catch {
    // Half of a key is nobody's; whether the other one is right, the database tells.
    return null
  }
}

/** Ends a rotation: the key that the database knows stays, the other goes. */
export function settleNextKey(dir: string, isKnown: boolean): void {
  if (!isKnown) return rmSync(nextKeyFile(dir), { force: true })
  try {
    renameSync(nextKeyFile(dir), keyFile(dir))
  } catch (error) {
    // Another process that started at this moment has done it.
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/**
 * Writes a file that only its owner reads, whole or not at all, and on the disk before anything
 * depends on it.
 */
export function writeKeyFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeWholeNow(path, `${text}\n`)
}
