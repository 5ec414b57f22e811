/** What a list changes: dealers by identity, and which of those that it lacks are gone (decisions 6.1-2). */
import type { Selectable } from 'kysely'
import type { StateCode } from '../places/states.js'
import type { ListedDealer } from './list-rows.js'
import type { DealerTable } from './tables.js'

/**
 * A dealer as the directory has it. `updated_at` is the time of the newest list that said something new about it, so that
 * an older list can be told from a newer one. What the operator adds or sets is not a list's.
 */
export type KnownDealer = ListedDealer & Pick<Selectable<DealerTable>, 'listed' | 'source' | 'updated_at'> & OperatorsWord

/** What the operator said of a dealer, as far as a list meets it; a dealer without it has none. */
export type OperatorsWord = Partial<Pick<Selectable<DealerTable>, 'valid_until' | 'own_phone'>>

/** A state in which a list may not revoke, and why. */
export interface KeptState {
  state: string
  /** Dealers that the list lacks, of so many known. */
  missing: number
  known: number
  reason: string
}

export interface Plan {
  added: KnownDealer[]
  renewed: { before: KnownDealer; after: KnownDealer }[]
  changed: { before: KnownDealer; after: KnownDealer }[]
  unchanged: number
  /** Dealers of whom a newer list is known, which stands. */
  outdated: number
  gone: KnownDealer[]
  kept: KeptState[]
}

export interface DiffInput {
  known: ReadonlyMap<string, KnownDealer>
  /** By identity. */
  listed: ReadonlyMap<string, ListedDealer>
  /** Identities of rows that are no dealers, but say that the licence exists. */
  mentioned: ReadonlySet<string>
  /** Columns that the list does not have, and says nothing of. */
  absent: ReadonlySet<keyof ListedDealer>
  /** When the list was made, ms. */
  asOf: number
  /** Which types of licence were read from it. */
  types: ReadonlySet<string>
  /** The list ends in the middle. */
  cutOff: boolean
  /** States in which the operator says that it may revoke. */
  revoke: ReadonlySet<StateCode>
}

/** Share of a state's known dealers that a list must hold to revoke there, in percent. */
export const LEAST_SHARE = 70

export function compareList(input: DiffInput): Plan {
  const { known, listed, asOf, absent } = input
  const plan: Plan = { added: [], renewed: [], changed: [], unchanged: 0, outdated: 0, ...goneFrom(input) }
  for (const dealer of listed.values()) {
    const before = known.get(dealer.id)
    if (!before) {
      plan.added.push({ ...dealer, listed: 1, source: 'atf', updated_at: asOf })
      continue
    }
    const after = merge(before, dealer, { asOf, absent })
    if (after.license_number !== before.license_number) plan.renewed.push({ before, after })
    else if (differs(before, after)) plan.changed.push({ before, after })
    else if (isOlder(before, asOf)) plan.outdated++
    else plan.unchanged++
  }
  return plan
}

/** A list's word gives way to that of a newer one; the operator's and a distributor's, who know less, to any. */
function isOlder({ source, updated_at }: KnownDealer, asOf: number): boolean {
  return source === 'atf' && asOf < updated_at
}

/** The dealer after the list. The licence that expires later stays, so that no list turns a renewal back. */
function merge(before: KnownDealer, dealer: ListedDealer, { asOf, absent }: Pick<DiffInput, 'asOf' | 'absent'>): KnownDealer {
  const { license_number, license_type, expires_on } = before.license_number !== dealer.license_number && dealer.expires_on < before.expires_on ? before : dealer
  // An extension was given to the licence of then, and ends with it.
  const renewed = license_number === before.license_number ? null : { license_number, license_type, expires_on, valid_until: null }
  if (isOlder(before, asOf)) return renewed && expires_on > before.expires_on ? { ...before, ...renewed } : before
  const silent = Object.fromEntries([...absent].map((column) => [column, before[column]]))
  // A number that the operator found out stands, and any is better than none.
  const voice_phone = before.own_phone ? before.voice_phone : dealer.voice_phone ?? before.voice_phone
  return { ...before, ...dealer, ...silent, license_number, license_type, expires_on, ...renewed, voice_phone, listed: 1, source: 'atf', updated_at: asOf }
}

function differs(before: KnownDealer, after: KnownDealer): boolean {
  return (Object.keys(after) as (keyof KnownDealer)[]).some((name) => name !== 'updated_at' && after[name] !== before[name])
}

/** Those that the list lacks, state by state; where it may not revoke, why. */
function goneFrom({ known, listed, mentioned, asOf, types, cutOff, revoke }: DiffInput): Pick<Plan, 'gone' | 'kept'> {
  const covered = new Set([...listed.values()].map(({ premise_state }) => premise_state))
  const byState = new Map<string, KnownDealer[]>()
  for (const dealer of known.values()) {
    // Dealers that no list has are the operator's business, and those that came with a newer one cannot stand in this.
    if (dealer.listed === 0 || dealer.source === 'operator' || !types.has(dealer.license_type) || asOf < dealer.updated_at) continue
    const state = byState.get(dealer.premise_state)
    if (state) state.push(dealer)
    else byState.set(dealer.premise_state, [dealer])
  }
  const [gone, kept]: [KnownDealer[], KeptState[]] = [[], []]
  for (const [state, dealers] of [...byState].sort(([a], [b]) => a < b ? -1 : 1)) {
    const missing = dealers.filter(({ id }) => !listed.has(id) && !mentioned.has(id))
    if (missing.length === 0) continue
    const before = knownBefore(dealers, missing, asOf)
    const reason = revoke.has(state as StateCode) ? null : whyKept({ isCovered: covered.has(state), cutOff, known: before, missing: missing.length })
    if (reason === null) gone.push(...missing)
    else kept.push({ state, missing: missing.length, known: before, reason })
  }
  return { gone, kept }
}

/**
 * How many dealers a state had before this list: those that it brought itself, in a run that was broken off or that could
 * not revoke, must not raise its share. They bear its time; where missing ones do too, that is the time of two lists.
 */
function knownBefore(dealers: readonly KnownDealer[], missing: readonly KnownDealer[], asOf: number): number {
  if (missing.some(({ updated_at }) => updated_at === asOf)) return dealers.length
  return dealers.filter(({ updated_at }) => updated_at < asOf).length
}

function whyKept({ isCovered, cutOff, known, missing }: { isCovered: boolean; cutOff: boolean; known: number; missing: number }): string | null {
  if (!isCovered) return 'the list has no dealer of this state'
  if (cutOff) return 'the list is cut off'
  return (known - missing) * 100 < known * LEAST_SHARE ? `the list holds less than ${LEAST_SHARE} % of the dealers that are known there` : null
}
