/**
 * The connector type: what the program knows of one distributor. Capabilities are added by
 * presence.
 */
import type { Mode } from '../db/tables/column-types.js'
import type { FtpServer } from './session/ftp.js'
import type { Session } from './session/session.js'
import type { AccountFeed } from './account-feed.js'
import { pointerStep } from '../core/pointer.js'
import type { Fulfillment } from './fulfillment.js'
import type { Preset } from './generic/preset.js'

/** One setting of a distributor (contract "Distributor registry entry"). */
export interface Setting {
  type: 'string' | 'number' | 'boolean' | 'array' | 'state-selector'
  label: string
  helperText?: string
  /** Dash-delimited path into the distributor's entry of the configuration document. */
  path: string
  /**
   * An active distributor is not complete without it; `in_object`: the object that it stands in is
   * not.
   */
  required?: boolean | 'in_object'
  /** Sealed at rest and masked when read back; always a credential. */
  secret?: boolean
  /** Part of what a distributor checks: a change withdraws the validation. */
  credential?: boolean
  /**
   * How its values are written; `text_or_number` for what shops give as either, such as an account
   * number.
   */
  form?: 'text_or_number' | 'postal_code' | 'email'
  /** The only values that it takes. */
  choices?: readonly string[]
}

/** How credentials are checked in a mode; undefined where nobody can be asked. */
export function checkOf({ check, simulatorCheck }: Distributor, mode: Mode): Distributor['check'] {
  return mode === 'live' ? check : (simulatorCheck ?? check)
}

export type CheckOutcome = 'valid' | 'invalid' | 'unreachable'

/** The value of a setting, by the way it is declared. */
type ValueOf<S extends Setting> = S extends { choices: readonly (infer Choice)[] }
  ? Choice
  : S extends { form: 'text_or_number' }
    ? string | number
    : {
        string: string
        'state-selector': string
        number: number
        boolean: boolean
        array: string[]
      }[S['type']]

/**
 * The values of declared settings, by name. One that the subscriber has not set is absent, also
 * where it is required.
 */
export type SettingValues<S extends Readonly<Record<string, Setting>>> = {
  readonly [Name in keyof S]?: ValueOf<S[Name]>
}

export interface Distributor<
  S extends Readonly<Record<string, Setting>> = Readonly<Record<string, Setting>>,
  Values = Readonly<Record<string, unknown>>,
> {
  /** The short code, always a string of letters and digits. */
  readonly distid: string
  /** Its key in the configuration document. */
  readonly name: string
  readonly automatedFulfillment: boolean
  /** Where it is called by HTTP: an address that ends in a slash. No other host is. */
  readonly api?: { readonly url: string }
  /** Its FTP server; files go to and from no other. */
  readonly files?: FtpServer
  /** Further hosts of its own, where `api` and `files` are not all that it has. */
  readonly hosts?: readonly string[]
  /** Where orders go, in words, beside `api` and `files`. */
  readonly ordersGo?: readonly string[]
  readonly settings: S
  /**
   * Sections that an entry must have, such as `fulfillment`, with the required settings in them.
   */
  readonly requiredSections?: readonly string[]
  /** What its template charges for shipping, in dollars. */
  readonly templateShipping?: number
  /**
   * Asks the distributor whether the credentials are good: never a guess; an Unreachable that it
   * throws says why it cannot tell. Without it nobody can ask.
   */
  check?(session: Session<Values>): Promise<CheckOutcome>
  /** The same in mode `simulator`, where a simulator plays it. */
  simulatorCheck?(session: Session<Values>): Promise<CheckOutcome>
  /**
   * How its feeds are read, the full catalog first; those of the distributors that come with the
   * program are known by themselves.
   */
  readonly presets?: readonly Preset[]
  /** Feeds that its interface gives an account, by the id of the preset that reads each. */
  readonly feeds?: Readonly<Record<string, AccountFeed<Values>>>
  /**
   * The dealers whose license it has, as its interface gives them to an account: rows of name,
   * street, city, state, ZIP and license with `;` between them.
   */
  readonly dealers?: AccountFeed<Values>
  /** In mode `simulator`: the session, with calls that go to where its simulator listens. */
  simulatorSession?(session: Session): Promise<Session>
  /** A simulator stands in for the real one. */
  readonly simulated?: boolean
  /** The only credentials that its simulator takes, by setting: they are no secret. */
  readonly simulatorTakes?: Readonly<Record<string, string>>
  /** Places real purchase orders, in mode `live`. */
  readonly fulfillment?: Fulfillment<Values>
  /** Plays the distributor, in mode `simulator`. */
  readonly simulator?: Fulfillment<Values>
  /** Milliseconds that a check may take; 15 seconds by default. */
  readonly checkTimeout?: number
}

/**
 * Declares a distributor; its functions are given the settings by their declared types. Throws when
 * its distid or a setting's path cannot work.
 */
export function defineDistributor<const S extends Readonly<Record<string, Setting>>>(
  distributor: Distributor<S, SettingValues<S>>,
): Distributor {
  const { distid, name, settings } = distributor
  if (!/^[A-Za-z0-9]+$/.test(distid))
    throw new Error(`${name}: the distid "${distid}" must be letters and digits`)
  if (name === '' || RESERVED.has(name))
    throw new Error(`${distid}: "${name}" cannot be a distributor's name`)
  for (const [setting, { path }] of Object.entries(settings)) {
    if (path.split('-').some((segment) => segment === '' || RESERVED.has(segment)))
      throw new Error(
        `${distid}: the path "${path}" of setting ${setting} has an empty or reserved segment`,
      )
    if (COMMON.has(path))
      throw new Error(
        `${distid}: the path "${path}" of setting ${setting} is a member that every entry has`,
      )
  }
  return distributor
}

const RESERVED = new Set(['__proto__', 'prototype', 'constructor'])
/** Members of every entry (contract "Configuration document"). */
const COMMON = new Set([
  'active',
  'distid',
  'drop_ship_only_items',
  'shipping',
  'product_restrictions',
  'product_feed',
  'fulfillment',
  'product_feed-active',
])

/** The JSON Pointer of a setting's path in the configuration document. */
export function settingPointer(name: string, path: string): string {
  return `/distributors${pointerStep(name)}${path.split('-').map(pointerStep).join('')}`
}

/**
 * The values of a distributor's settings in an entry, by setting; own members only, what is not
 * there is left out.
 */
export function settingsOf(distributor: Distributor, entry: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(distributor.settings)
      .map(([name, { path }]) => [name, valueAt(entry, path)] as const)
      .filter(([, value]) => value !== undefined),
  )
}

function valueAt(entry: unknown, path: string): unknown {
  return path
    .split('-')
    .reduce<unknown>(
      (at, segment) =>
        typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, segment)
          ? (at as Record<string, unknown>)[segment]
          : undefined,
      entry,
    )
}

/** Settings that are credentials, which a change of withdraws the validation. */
export function isCredential({ secret, credential }: Setting): boolean {
  return secret === true || credential === true
}

/**
 * Whether an entry must give credentials; without them there is nothing that could be validated.
 */
export function mustHaveCredentials({ settings, requiredSections = [] }: Distributor): boolean {
  return Object.values(settings).some(
    (setting) =>
      isCredential(setting) &&
      setting.required === true &&
      requiredSections.includes(setting.path.split('-')[0]!),
  )
}

/** Empty text, an empty list and null are blanks of a template, not values. */
export function isBlank(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (Array.isArray(value) && value.length === 0)
  )
}

/** Required settings of an entry that have no value yet. */
export function unsetSettings(distributor: Distributor, entry: unknown): Setting[] {
  const values = settingsOf(distributor, entry)
  return Object.entries(distributor.settings)
    .filter(
      ([name, setting]) =>
        isBlank(values[name]) &&
        (setting.required === true ||
          (setting.required === 'in_object' && isInObject(entry, setting.path))),
    )
    .map(([, setting]) => setting)
}

function isInObject(entry: unknown, path: string): boolean {
  return valueAt(entry, path.slice(0, path.lastIndexOf('-'))) !== undefined
}
