/**
 * What a distributor's own feed says of where an item may go: a flag for a state, whatever the law
 * of that state says, and whoever receives the parcel there. The flags come and go with the feed;
 * nobody has to accept them.
 */
import { byCodePoint } from '../core/text.js'
import { ALL_STATES, SET_STATES, hasState } from '../places/state-set.js'
import type { StateSet } from '../places/state-set.js'
import { STATES } from '../places/states.js'
import type { StateCode } from '../places/states.js'
import type { Place } from './destination.js'
import type { MatchedRule } from './shapes.js'
import { present } from '../core/present.js'

/** An offer that an item may be. */
export interface FlaggedOffer {
  distid: string
  /** The distributor's name, for people. */
  name: string
  distsku: string
  /** Where it is not shipped to; none where the feed does not tell. */
  states: StateSet
}

/** The offers that an item may be. */
export interface FeedFlags {
  readonly offers: readonly FlaggedOffer[]
  /** They are one offer, by (`distid`, `distsku`), and not all of one UPC. */
  readonly isExact: boolean
}

export const NO_FLAGS: FeedFlags = { offers: [], isExact: false }

/** The `rule_id` of a distributor's flag; without a state, of all its flags together. */
export function flagRuleId(distid: string, state?: StateCode): string {
  return ['feed', distid, ...(state ? [state] : [])].join(':')
}

/** Whether this is the `rule_id` of a flag that one of these distributors may set. */
export function isFlagRule(id: string, isDistid: (text: string) => boolean): boolean {
  const [, distid, state] = /^feed:(.+):([A-Z]{2})$/.exec(id) ?? []
  const isState = SET_STATES.some((known) => known === state)
  return distid !== undefined && isDistid(distid) && isState
}

/** Whether an override that names this rule may lift a finding of `flagMatches`. */
export function isFlagOf(finding: string, ruleId: string): boolean {
  return finding === ruleId || (finding.startsWith('feed:') && ruleId.startsWith(`${finding}:`))
}

/**
 * The flags that an item meets at a place, one for each distributor. A very offer that is flagged
 * is blocked; an item that may be any of several only where all of them are. Where the state is not
 * known, a flag counts that stands at every state.
 */
export function flagMatches({ offers, isExact }: FeedFlags, place: Place): MatchedRule[] {
  if (place.country !== 'US') return []
  const flagged = offers.filter(({ states }) => isFlagged(states, place))
  if (flagged.length === 0) return []
  const isBlocked = isExact || flagged.length === offers.length
  const [state] = place.states.values as ReadonlySet<StateCode>
  const others = offers.filter((offer) => !flagged.includes(offer))
  return [...new Set(flagged.map(({ distid }) => distid))].sort(byCodePoint).map((distid) => {
    const ofOne = flagged.filter((offer) => offer.distid === distid)
    return isBlocked ? blocked(ofOne, state) : warned(ofOne, others, state)
  })
}

function isFlagged(states: StateSet, place: Place): boolean {
  if (!place.states.known) return states === ALL_STATES
  return [...place.states.values].every((state) => hasState(states, state))
}

const unique = (texts: readonly string[]) => [...new Set(texts)].join(', ')
const placeName = (state: StateCode | undefined) =>
  state === undefined ? 'any state' : state === 'DC' ? `the ${STATES.DC}` : STATES[state]

const firstOf = ([first]: readonly FlaggedOffer[]) => present(first, 'an offer that is flagged')

function flagOf(offers: readonly FlaggedOffer[], state: StateCode | undefined): string {
  const { name, distid } = firstOf(offers)
  const skus = unique(offers.map(({ distsku }) => distsku))
  const where = state === undefined ? 'every state' : `state ${state}`
  return `the feed of ${name} (${distid}) flags ${skus} as not to be shipped to ${where}`
}

function blocked(offers: readonly FlaggedOffer[], state: StateCode | undefined): MatchedRule {
  return {
    rule_id: flagRuleId(firstOf(offers).distid, state),
    kind: 'BLOCK',
    customer_message: `This item cannot be shipped to ${placeName(state)}.`,
    reason: flagOf(offers, state),
    missing: [],
    would_change: ["a destination or an offer that no distributor's feed flags"],
    citations: [],
    effective_from: null,
  }
}

function warned(
  offers: readonly FlaggedOffer[],
  others: readonly FlaggedOffer[],
  state: StateCode | undefined,
): MatchedRule {
  const free = unique(others.map(({ distid, distsku }) => `${distid} ${distsku}`).slice(0, SHOWN))
  return {
    ...blocked(offers, state),
    kind: 'WARNING',
    customer_message: `Some of our suppliers cannot ship this item to ${placeName(state)}.`,
    reason: `${flagOf(offers, state)}; not flagged: ${free}${others.length > SHOWN ? ', ...' : ''}`,
    would_change: [],
  }
}

/** Offers without a flag that a warning names. */
const SHOWN = 5
