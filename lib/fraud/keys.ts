/**
 * The keys under which signals are kept: outside the database, so that a copy of it tells nothing. Local ones are numbered
 * and can be replaced; each partner of a federation shares one with this installation.
 */
import { createHmac } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { writeKeyFile } from '../core/secrets.js'

/** Changes with the normalizers: another spelling of the same rule must not meet the old one. */
export const FORM = 1

export interface FraudKey {
  /** `local 3 1f0a22bc form 1`, `partner NAME …`. */
  readonly name: string
  /** 64 bits, signed, as SQLite keeps them; a value of one field never meets one of another. */
  hash(field: string, value: string): bigint
  /** A longer digest for what is no signal: pseudonyms, seals of batches. */
  digest(purpose: string, text: string): string
}

export interface FraudKeys {
  /** Under which new reports are kept. */
  readonly current: FraudKey
  /** All under which there may be reports: while a key is being replaced both, and each partner's. */
  readonly all: readonly FraudKey[]
}

const LOCAL = 'fraud-keys'
const PARTNER = /^fraud-partner-([a-z0-9-]{1,40})$/
const KEY = 32

/** The name tells the key and the rules of spelling apart: under another of either, everything is hashed anew. */
export function makeKey(name: string, secret: Buffer): FraudKey {
  const id = createHmac('sha256', secret).update('id').digest('hex').slice(0, 8)
  return {
    name: `${name} ${id} form ${FORM}`,
    hash: (field, value) => createHmac('sha256', secret).update(`${FORM}|${field}|${value}`).digest().readBigInt64LE(0),
    digest: (purpose, text) => createHmac('sha256', secret).update(`${purpose}|${text}`).digest('base64url'),
  }
}

/** The keys of a state folder; the first local one is made where there is none. */
export function loadFraudKeys(dir: string, random: (bytes: number) => Buffer): FraudKeys {
  if (!existsSync(join(dir, 'keys', LOCAL))) writeLocal(dir, new Map([[1, random(KEY)]]))
  const local = [...readLocal(dir)].sort(([a], [b]) => a - b).map(([version, secret]) => makeKey(`local ${version}`, secret))
  return { current: local.at(-1)!, all: [...local, ...partnersIn(dir).map((name) => makeKey(`partner ${name}`, readPartner(dir, name)))] }
}

/** Lays a new key beside the one in use, which stays until nothing is kept under it any more. Where two stand there, the newer one is meant. */
export function addLocalKey(dir: string, random: (bytes: number) => Buffer): void {
  const keys = readLocal(dir)
  if (keys.size === 1) writeLocal(dir, keys.set(Math.max(...keys.keys()) + 1, random(KEY)))
}

/** Only the newest key stays. */
export function dropOldKeys(dir: string): void {
  const keys = readLocal(dir)
  const newest = Math.max(...keys.keys())
  writeLocal(dir, new Map([[newest, keys.get(newest)!]]))
}

function readLocal(dir: string): Map<number, Buffer> {
  const path = join(dir, 'keys', LOCAL)
  const lines = readFileSync(path, 'utf8').trim().split('\n').map((line) => /^(\d{1,9}) ([0-9a-f]{64})$/.exec(line))
  if (lines.some((line) => line === null)) throw new Error(`${path} is damaged: restore it from your own copy, or remove it and run \`fraud rotate-key\``)
  return new Map(lines.map((line) => [Number(line![1]), Buffer.from(line![2]!, 'hex')]))
}

function writeLocal(dir: string, keys: ReadonlyMap<number, Buffer>): void {
  writeKeyFile(join(dir, 'keys', LOCAL), [...keys].map(([version, secret]) => `${version} ${secret.toString('hex')}`).join('\n'))
}

/** Names of the partners that a key is shared with. */
export function partnersIn(dir: string): string[] {
  const keys = join(dir, 'keys')
  return existsSync(keys) ? readdirSync(keys).flatMap((file) => PARTNER.exec(file)?.[1] ?? []).sort() : []
}

export function partnerKey(dir: string, name: string): FraudKey | null {
  return partnersIn(dir).includes(name) ? makeKey(`partner ${name}`, readPartner(dir, name)) : null
}

function readPartner(dir: string, name: string): Buffer {
  const path = join(dir, 'keys', `fraud-partner-${name}`)
  const text = readFileSync(path, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} is damaged: it must be 64 hex digits, as the partner has them`)
  return Buffer.from(text, 'hex')
}

/** Throws where a key that both sides agreed on cannot be kept under this name. */
export function checkPartner(dir: string, name: string, secret: string): void {
  if (!PARTNER.test(`fraud-partner-${name}`)) throw new Error('the name of a partner is 1 to 40 small letters, digits and dashes')
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('the shared key must be 64 hex digits')
  // Under another key nothing would be found any more of what the partner sent before.
  if (partnersIn(dir).includes(name)) throw new Error(`"${name}" is a partner already; to give it another key, remove ${join(dir, 'keys', `fraud-partner-${name}`)} first, and take in a new batch after`)
}

/** Keeps a key that both sides agreed on. */
export function writePartner(dir: string, name: string, secret: string): void {
  checkPartner(dir, name, secret)
  writeKeyFile(join(dir, 'keys', `fraud-partner-${name}`), secret)
}
