/**
 * The keys under which signals are kept, so that a copy of the database tells nothing. Local ones
 * are numbered and can be replaced; each partner of a federation shares one with this installation.
 */
import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Reading } from '../../db/query.js'
import type { Tables } from '../../db/tables/tables.js'

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

/** The keys as they are kept, each a text. */
export interface KeyTexts {
  /** Of the local ones and of each partner's; empty for one that cannot be read. */
  readonly byName: ReadonlyMap<string, string>
  /** Where one is, for who has to mend it. */
  placeOf(name: string): string
}

/** Where an installation keeps them: in its folder, or for all its nodes in their database. */
export interface KeyStore {
  /** As of the reading that asks. */
  texts(): Reading<KeyTexts>
  /** The same, with a first local one at least. */
  withFirst(): Reading<KeyTexts>
  /** In the transaction of `db`, which keeps other processes from them. */
  write(db: Kysely<Tables>, name: string, text: string): Promise<void>
  remove(db: Kysely<Tables>, name: string): Promise<void>
}

type Random = (bytes: number) => Buffer

/** The name of the local keys. */
export const LOCAL = 'fraud-keys'
const PARTNER = /^fraud-partner-([a-z0-9-]{1,40})$/
const KEY = 32

/** Whether a key of fraud signals is kept under this name. */
export const isKeyName = (name: string): boolean => name === LOCAL || PARTNER.test(name)

const partnerName = (name: string) => `fraud-partner-${name}`

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

/** The local keys, the newest last; none before anything was reported or asked. */
export function localKeys(texts: KeyTexts): FraudKey[] {
  return [...readLocal(texts)]
    .sort(([a], [b]) => a - b)
    .map(([version, secret]) => localKey(version, secret))
}

/** The text of a first local key. */
export const firstKey = (random: Random): string => textOf(new Map([[1, random(KEY)]]))

/**
 * The text with a new key beside those in use, which stay as long as anything is kept under them.
 */
export function withNewKey(texts: KeyTexts, random: Random): string {
  const keys = readLocal(texts)
  return textOf(keys.set(Math.max(0, ...keys.keys()) + 1, random(KEY)))
}

/** The text without all keys but the newest and those that are used; null where there are none. */
export function withoutOldKeys(texts: KeyTexts, isUsed: (name: string) => boolean): string | null {
  const keys = readLocal(texts)
  const newest = Math.max(...keys.keys())
  const kept = new Map(
    [...keys].filter(
      ([version, secret]) => version === newest || isUsed(localKey(version, secret).name),
    ),
  )
  return kept.size === keys.size ? null : textOf(kept)
}

function readLocal(texts: KeyTexts): Map<number, Buffer> {
  const text = texts.byName.get(LOCAL)
  if (text === undefined) return new Map()
  const lines = text.trim().split('\n')
  const keys = lines.flatMap((line): [number, Buffer][] => {
    const [, number, key] = /^(\d{1,9}) ([0-9a-f]{64})$/.exec(line) ?? []
    return key === undefined ? [] : [[Number(number), Buffer.from(key, 'hex')]]
  })
  if (keys.length < lines.length)
    throw new Error(
      `${texts.placeOf(LOCAL)} is damaged: restore it from your own copy, or remove it and run ` +
        '`fraud rotate-key`',
    )
  return new Map(keys)
}

function textOf(keys: ReadonlyMap<number, Buffer>): string {
  return [...keys].map(([version, secret]) => `${version} ${secret.toString('hex')}`).join('\n')
}

/** Names of the partners that a key is shared with. */
export const partnersIn = ({ byName }: KeyTexts): string[] =>
  [...byName.keys()].flatMap((name) => PARTNER.exec(name)?.[1] ?? []).sort()

/**
 * The partners' keys, and what is wrong with each that cannot be read: that partner is as good as
 * none, the others are not concerned.
 */
export function partnerKeys(texts: KeyTexts): { keys: FraudKey[]; damaged: string[] } {
  const found: ReturnType<typeof partnerKeys> = { keys: [], damaged: [] }
  for (const name of partnersIn(texts)) {
    try {
      found.keys.push(makeKey(`partner ${name}`, readPartner(texts, name)))
    } catch (error) {
      found.damaged.push(error instanceof Error ? error.message : String(error))
    }
  }
  return found
}

export function partnerKey(texts: KeyTexts, name: string): FraudKey | null {
  return partnersIn(texts).includes(name)
    ? makeKey(`partner ${name}`, readPartner(texts, name))
    : null
}

function readPartner(texts: KeyTexts, name: string): Buffer {
  const text = partnerText(texts, name)
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new Error(
      `${texts.placeOf(partnerName(name))} is damaged: it must be 64 hex digits, as the partner ` +
        'has them; restore it from your own copy, and start the server again',
    )
  return Buffer.from(text, 'hex')
}

const partnerText = ({ byName }: KeyTexts, name: string): string =>
  (byName.get(partnerName(name)) ?? '').trim()

/**
 * The name under which a key is kept that both sides agreed on. Throws where it cannot be kept under
 * the name of this partner.
 */
export function checkPartner(texts: KeyTexts, name: string, secret: string): string {
  const kept = partnerName(name)
  if (!PARTNER.test(kept))
    throw new Error('the name of a partner is 1 to 40 small letters, digits and dashes')
  if (!/^[0-9a-f]{64}$/.test(secret)) throw new Error('the shared key must be 64 hex digits')
  // Under another key nothing would be found any more of what the partner sent before.
  if (partnersIn(texts).includes(name))
    throw new Error(
      `"${name}" is a partner already; to give it another key, remove ` +
        `${texts.placeOf(kept)} first, and take in a new batch after`,
    )
  // Two who share one key could take in each other's batches, and look up each other's values.
  const other = partnersIn(texts).find((each) => partnerText(texts, each) === secret)
  if (other !== undefined)
    throw new Error(
      `this key is shared with ${other} already: agree on another one with each partner`,
    )
  return kept
}

/** Removes the key of a partner, where there is one. */
export const removePartnerKey = (
  store: KeyStore,
  db: Kysely<Tables>,
  name: string,
): Promise<void> => store.remove(db, partnerName(name))

/** Whether the text of a key is whole. */
export const isWhole = (name: string, text: string): boolean =>
  (name === LOCAL ? /^(\d{1,9} [0-9a-f]{64}(\n|$))+$/ : /^[0-9a-f]{64}$/).test(text)
