/**
 * What a list changes: dealers by identity, and which of those that it lacks are gone.
 */
import type { Selectable } from 'kysely'
import { DAY } from '../../core/clock.js'
import type { StateCode } from '../../places/states.js'
import { isFollowed, orderOf } from './line-order.js'
import type { ListOrder, OrderedRow } from './line-order.js'
import type { ListedDealer } from './rows.js'
import type { DealerTable } from '../../db/tables/ffls.js'

/**
 * A dealer as the directory has it. `updated_at` is the time of the newest list that said something
 * new about it, so that an older list can be told from a newer one. What the operator adds or sets
 * is not a list's.
 */
export type KnownDealer = ListedDealer &
  Pick<Selectable<DealerTable>, 'listed' | 'source' | 'updated_at'> &
  OperatorsWord

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
  /** The order to remember; null where the list is not shown to be whole. */
  order: ListOrder | null
}

export interface DiffInput {
  known: ReadonlyMap<string, KnownDealer>
  /** By identity. */
  listed: ReadonlyMap<string, ListedDealer>
  /** Identities of rows that are not dealers, but say that the license exists. */
  mentioned: ReadonlySet<string>
  /**
   * Every row of the list whose license and state can be read, whatever its type, in the order of
   * the file.
   */
  rows: readonly OrderedRow[]
  /** The order of the last whole list; null where none is known. */
  order: ListOrder | null
  /** Columns that the list does not have, and says nothing of. */
  absent: ReadonlySet<keyof ListedDealer>
  /** When the list was made, ms. */
  asOf: number
  /** Which types of license were read from it. */
  types: ReadonlySet<string>
  /** The list ends in the middle. */
  cutOff: boolean
  /** States in which the operator says that it may revoke. */
  revoke: ReadonlySet<StateCode>
  /** The operator says so of all states. */
  accept: boolean
}

/**
 * Dealers that a state may lose from one list to the next, in percent for each month that has
 * begun, and at most.
 */
const LOSS = { month: 5, most: 30 } as const
const MONTH = 31 * DAY
/** States with no more dealers may lose any number. */
const FEW = 20

export function compareList(input: DiffInput): Plan {
  const { known, listed, asOf, absent } = input
  const plan: Plan = {
    added: [],
    renewed: [],
    changed: [],
    unchanged: 0,
    outdated: 0,
    ...goneFrom(input),
  }
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

/**
 * A list's word gives way to that of a newer one; the operator's and a distributor's, who know
 * less, to any.
 */
function isOlder({ source, updated_at }: KnownDealer, asOf: number): boolean {
  return source === 'atf' && asOf < updated_at
}

/**
 * The dealer after the list. What the newest list says counts; no older one turns a later license
 * back, and none what the operator or a distributor knew first.
 */
function merge(
  before: KnownDealer,
  dealer: ListedDealer,
  { asOf, absent }: Pick<DiffInput, 'asOf' | 'absent'>,
): KnownDealer {
  const isNewest = before.source === 'atf' && asOf > before.updated_at
  const { license_number, license_type, expires_on } =
    !isNewest &&
    before.license_number !== dealer.license_number &&
    dealer.expires_on < before.expires_on
      ? before
      : dealer
  // An extension was given to the license of then, and ends with it.
  const renewed =
    license_number === before.license_number
      ? null
      : { license_number, license_type, expires_on, valid_until: null }
  if (isOlder(before, asOf))
    return renewed && expires_on > before.expires_on ? { ...before, ...renewed } : before
  const silent = Object.fromEntries([...absent].map((column) => [column, before[column]]))
  // A number that the operator found out stands, and any is better than none.
  const voice_phone = before.own_phone
    ? before.voice_phone
    : (dealer.voice_phone ?? before.voice_phone)
  return {
    ...before,
    ...dealer,
    ...silent,
    license_number,
    license_type,
    expires_on,
    ...renewed,
    voice_phone,
    listed: 1,
    source: 'atf',
    updated_at: asOf,
  }
}

function differs(before: KnownDealer, after: KnownDealer): boolean {
  return (Object.keys(after) as (keyof KnownDealer)[]).some(
    (name) => name !== 'updated_at' && after[name] !== before[name],
  )
}

const NO_ORDER = 'no whole list before this one is known'
const BEHIND_THE_END =
  'the list may be cut off: it shows nothing of what stood behind them in the last one'

/** Those that the list lacks, state by state; where it may not revoke, why. */
export function goneFrom(input: DiffInput): Pick<Plan, 'gone' | 'kept' | 'order'> {
  const { listed, mentioned, rows, revoke, accept, cutOff, asOf } = input
  const present = new Set(rows.map(({ id }) => id))
  const states = judgeStates(input, present)
  const proves = orderProof(input, present)
  const kept = new Map<string, KeptState & { ids: string[] }>()
  const gone: KnownDealer[] = []
  for (const { state, known, missing, wholeFault } of states) {
    for (const dealer of missing) {
      // A row of another type says by itself that it is not a dealer of ours any more.
      const isSaid =
        accept ||
        revoke.has(state as StateCode) ||
        (present.has(dealer.id) && !mentioned.has(dealer.id) && !listed.has(dealer.id))
      const reason = isSaid ? null : (wholeFault ?? proves(dealer))
      if (reason === null) {
        gone.push(dealer)
        continue
      }
      const entry = kept.get(`${state} ${reason}`) ?? { state, missing: 0, known, reason, ids: [] }
      entry.missing++
      entry.ids.push(dealer.id)
      kept.set(`${state} ${reason}`, entry)
    }
  }
  const held = [...kept.values()]
  // What it lacks behind its end keeps its place there, so that no later list is taken for whole
  // without it.
  const isWhole =
    !cutOff &&
    asOf > (input.order?.asOf ?? -Infinity) &&
    held.every(({ reason }) => reason === NO_ORDER || reason === BEHIND_THE_END)
  const behind = held.filter(({ reason }) => reason === BEHIND_THE_END).flatMap(({ ids }) => ids)
  return {
    gone,
    kept: held.map(({ ids: _ids, ...state }) => state),
    order: isWhole ? orderOf(rows, asOf, behind) : null,
  }
}

interface JudgedState {
  state: string
  known: number
  missing: KnownDealer[]
  /** Why the list is not shown to be whole at all; null where it may be. */
  wholeFault: string | null
}

/**
 * What the list lacks of each state that may lose dealers by it, and what speaks against the list
 * as a whole.
 */
function judgeStates(input: DiffInput, present: ReadonlySet<string>): JudgedState[] {
  const { listed, mentioned, rows, order, asOf, cutOff, revoke } = input
  const covered = new Set([
    ...rows.map(({ state }) => state),
    ...[...listed.values()].map(({ premise_state }) => premise_state),
  ])
  const states = [...knownByState(input)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([state, dealers]) => {
      const missing = dealers.filter(({ id }) => !listed.has(id) && !mentioned.has(id))
      const lost = missing.filter(({ id }) => !present.has(id)).length
      return {
        state,
        missing,
        lost,
        known: knownBefore(dealers, missing, asOf),
        isListed: dealers.some(({ source }) => source === 'atf'),
      }
    })
  const isLeft = (state: string) => !revoke.has(state as StateCode)
  const months = order && order.asOf < asOf ? Math.ceil((asOf - order.asOf) / MONTH) : 1
  const limit = Math.min(LOSS.most, LOSS.month * months)
  const expected = new Set([
    ...Object.keys(order?.states ?? {}),
    ...states.filter(({ isListed }) => isListed).map(({ state }) => state),
  ])
  const absent = [...expected].filter((state) => !covered.has(state) && isLeft(state)).sort()
  const bled = states.filter(
    ({ state, known, lost }) => known > FEW && lost * 100 > known * limit && isLeft(state),
  )
  const faultOf = (state: string): string | null => {
    if (!covered.has(state)) return 'the list has no dealer of this state'
    if (cutOff) return 'the list is cut off'
    if (bled.some((other) => other.state === state))
      return `the list lacks more than ${limit} % of the dealers that are known there`
    if (absent.length > 0) return `the list has no dealer of ${absent.join(', ')}`
    return bled.length > 0
      ? `the list lacks more than ${limit} % of the dealers of ` +
          `${bled.map((other) => other.state).join(', ')}`
      : null
  }
  return states.map(({ state, known, missing }) => ({
    state,
    known,
    missing,
    wholeFault: faultOf(state),
  }))
}

/** Dealers that a list may take off, by state. */
function knownByState({ known, types, asOf }: DiffInput): Map<string, KnownDealer[]> {
  const byState = new Map<string, KnownDealer[]>()
  for (const dealer of known.values()) {
    // Dealers that no list has are the operator's business, and those that came with a newer one
    // cannot stand in this.
    if (
      dealer.listed === 0 ||
      dealer.source === 'operator' ||
      !types.has(dealer.license_type) ||
      asOf < dealer.updated_at
    )
      continue
    const state = byState.get(dealer.premise_state)
    if (state) state.push(dealer)
    else byState.set(dealer.premise_state, [dealer])
  }
  return byState
}

/**
 * Tells of a dealer that a list lacks why its absence proves nothing, by the order of the last
 * whole list; null where it proves that it is gone.
 */
function orderProof(
  { order, asOf }: DiffInput,
  present: ReadonlySet<string>,
): (dealer: KnownDealer) => string | null {
  if (!order || order.asOf >= asOf) return () => NO_ORDER
  const places = new Map(order.tail.map((id, place) => [id, place]))
  const lastShown = order.tail.findLastIndex((id) => present.has(id))
  const followed = new Set(
    Object.keys(order.states).filter((state) => isFollowed(order.states, state)),
  )
  return ({ id, premise_state: state }) => {
    if (!order.states[state]) return BEHIND_THE_END
    // A known state that is missing has spoken against the whole list before, so the one that
    // follows is there.
    if (followed.has(state)) return null
    return (places.get(id) ?? Infinity) < lastShown ? null : BEHIND_THE_END
  }
}

/**
 * How many dealers a state had before this list: those that it brought itself, in a run that was
 * broken off or that could not revoke, must not raise its share. They bear its time; where missing
 * ones do too, that is the time of two lists.
 */
function knownBefore(
  dealers: readonly KnownDealer[],
  missing: readonly KnownDealer[],
  asOf: number,
): number {
  if (missing.some(({ updated_at }) => updated_at === asOf)) return dealers.length
  return dealers.filter(({ updated_at }) => updated_at < asOf).length
}
