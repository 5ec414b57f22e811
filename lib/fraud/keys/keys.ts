/**
 * The keys under which signals are kept: outside the database, so that a copy of it tells nothing.
 * Local ones are numbered and can be replaced; each partner of a federation shares one with this
 * installation.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { writeKeyFile } from '../../core/storage/secrets.js'

/** Changes with the normalizers: another spelling of the same rule must not meet the old one. */
export const FORM = 1

export interface FraudKey {
  /** `local 3 1f0a22bc form 1`, `partner NAME …`. */
  readonly name: string
  /** 64 bits, signed, as SQLite keeps them; a value of one field never meets one of another. */
  hash(field: string, value: string): bigint
  /** A longer digest for what is not a signal: pseudonyms, seals of batches. */
  digest(purpose: string, text: string): string
}

export interface FraudKeys {
  /** Under which new reports are kept. */
  readonly current: FraudKey
  /** The local ones, the newest last: two or more while a key is being replaced. */
  readonly local: readonly FraudKey[]
  /** All under which there may be reports: the local ones and each partner's. */
  readonly all: readonly FraudKey[]
  /**
   * Under which the values of a report made here are kept besides, so that one that stands under
   * another key too is counted once.
   */
  readonly mirrors: readonly FraudKey[]
  /** Tells these mirrors from others. */
  readonly mirrored: string
  /**
   * True while reports made here are under a key that is not here any more: nobody would find them.
   */
  readonly isLacking: boolean
}

const LOCAL = 'fraud-keys'
const PARTNER = /^fraud-partner-([a-z0-9-]{1,40})$/
const KEY = 32

/**
 * The name tells the key and the rules of spelling apart: under another of either, everything is
 * hashed anew.
 */
export function makeKey(name: string, secret: Buffer): FraudKey {
  const id = createHmac('sha256', secret).update('id').digest('hex').slice(0, 8)
  return {
    name: `${name} ${id} form ${FORM}`,
    hash: (field, value) =>
      createHmac('sha256', secret).update(`${FORM}|${field}|${value}`).digest().readBigInt64LE(0),
    digest: (purpose, text) =>
      createHmac('sha256', secret).update(`${purpose}|${text}`).digest('base64url'),
  }
}

const localKey = (version: number, secret: Buffer) => makeKey(`local ${version}`, secret)

/** The local keys of a state folder, the newest last; none where there is no file. */
export function localKeys(dir: string): FraudKey[] {
  if (!existsSync(join(dir, 'keys', LOCAL))) return []
  return [...readLocal(dir)]
    .sort(([a], [b]) => a - b)
    .map(([version, secret]) => localKey(version, secret))
}

/**
 * Makes the first local key, unless another process does so at this moment: then its key is the
 * one.
 */
export function makeFirstKey(dir: string, random: (bytes: number) => Buffer): void {
  const path = join(dir, 'keys', LOCAL)
  const draft = `${path}.${randomUUID()}`
  mkdirSync(join(dir, 'keys'), { recursive: true, mode: 0o700 })
  try {
    writeKeyFile(draft, textOf(new Map([[1, random(KEY)]])))
    // Whole or not at all, and never in the place of one that is there.
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Lays a new key beside those in use, which stay as long as anything is kept under them. Within a
 * write transaction, which keeps other processes from the file.
 */
export function addLocalKey(dir: string, random: (bytes: number) => Buffer): void {
  const keys = readLocal(dir)
  writeLocal(dir, keys.set(Math.max(...keys.keys()) + 1, random(KEY)))
}

/**
 * Removes all local keys but the newest and those that are used. True if there were any. As
 * `addLocalKey`, within a write transaction.
 */
export function dropLocalKeys(dir: string, isUsed: (name: string) => boolean): boolean {
  const keys = readLocal(dir)
  const newest = Math.max(...keys.keys())
  const kept = new Map(
    [...keys].filter(
      ([version, secret]) => version === newest || isUsed(localKey(version, secret).name),
    ),
  )
  if (kept.size === keys.size) return false
  writeLocal(dir, kept)
  return true
}

function readLocal(dir: string): Map<number, Buffer> {
  const path = join(dir, 'keys', LOCAL)
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  const keys = lines.flatMap((line): [number, Buffer][] => {
    const [, number, key] = /^(\d{1,9}) ([0-9a-f]{64})$/.exec(line) ?? []
    return key === undefined ? [] : [[Number(number), Buffer.from(key, 'hex')]]
  })
  if (keys.length < lines.length)
    throw new Error(
      `${path} is damaged: restore it from your own copy, or remove it and run \`fraud ` +
        `rotate-key\``,
    )
  return new Map(keys)
}

function writeLocal(dir: string, keys: ReadonlyMap<number, Buffer>): void {
  writeKeyFile(join(dir, 'keys', LOCAL), textOf(keys))
}

function textOf(keys: ReadonlyMap<number, Buffer>): string {
  return [...keys].map(([version, secret]) => `${version} ${secret.toString('hex')}`).join('\n')
}

/** Names of the partners that a key is shared with. */
export function partnersIn(dir: string): string[] {
  const keys = join(dir, 'keys')
  return existsSync(keys)
    ? readdirSync(keys)
        .flatMap((file) => PARTNER.exec(file)?.[1] ?? [])
        .sort()
    : []
}

/**
 * The partners' keys, and what is wrong with each that cannot be read: that partner is as good as
 * none, the others are not concerned.
 */
export function partnerKeys(dir: string): { keys: FraudKey[]; damaged: string[] } {
  const found: ReturnType<typeof partnerKeys> = { keys: [], damaged: [] }
  for (const name of partnersIn(dir)) {
    try {
      found.keys.push(makeKey(`partner ${name}`, readPartner(dir, name)))
    } catch (error) {
      found.damaged.push(error instanceof Error ? error.message : String(error))
    }
  }
  return found
}

export function partnerKey(dir: string, name: string): FraudKey | null {
  return partnersIn(dir).includes(name) ? makeKey(`partner ${name}`, readPartner(dir, name)) : null
}

const partnerFile = (dir: string, name: string) => join(dir, 'keys', `fraud-partner-${name}`)

function readPartner(dir: string, name: string): Buffer {
  const text = partnerKeyText(dir, name)
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(
      `${partnerFile(dir, name)} is damaged: it must be 64 hex digits, as the partner has ` +
        'them; restore it from your own copy, and start the server again',
    )
  return Buffer.from(text, 'hex')
}

/** What stands in the file; empty where it cannot be read. */
function partnerKeyText(dir: string, name: string): string {
  try {
    return readFileSync(partnerFile(dir, name), 'utf8').trim()
  } catch {
    return ''
  }
}

/** Throws where a key that both sides agreed on cannot be kept under this name. */
export function checkPartner(dir: string, name: string, secret: string): void {
  if (!PARTNER.test(`fraud-partner-${name}`))
    throw new Error('the name of a partner is 1 to 40 small letters, digits and dashes')
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('the shared key must be 64 hex digits')
  // Under another key nothing would be found any more of what the partner sent before.
  if (partnersIn(dir).includes(name))
    throw new Error(
      `"${name}" is a partner already; to give it another key, remove ` +
        `${partnerFile(dir, name)} first, and take in a new batch after`,
    )
  // Two who share one key could take in each other's batches, and look up each other's values.
  const other = partnersIn(dir).find((each) => partnerKeyText(dir, each) === secret)
  if (other !== undefined)
    throw new Error(
      `this key is shared with ${other} already: agree on another one with each partner`,
    )
}

/** Keeps a key that both sides agreed on. */
export function writePartner(dir: string, name: string, secret: string): void {
  checkPartner(dir, name, secret)
  writeKeyFile(partnerFile(dir, name), secret)
}

export function removePartnerKey(dir: string, name: string): void {
  rmSync(partnerFile(dir, name), { force: true })
}

/**
 * The files of a folder of keys that are kept for fraud signals, by name. Throws for one that is
 * damaged.
 */
export function fraudKeyFiles(keysDir: string): Map<string, string> {
  const names = existsSync(keysDir)
    ? readdirSync(keysDir).filter((name) => name === LOCAL || PARTNER.test(name))
    : []
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(keysDir, name), 'utf8').trim()
      if (!(name === LOCAL ? /^(\d{1,9} [0-9a-f]{64}(\n|$))+$/ : /^[0-9a-f]{64}$/).test(text))
        throw new Error(`${join(keysDir, name)} is damaged`)
      return [name, text]
    }),
  )
}
