/**
 * The seven distributors that a simulator plays: how each takes an order, and what it shows of it
 * afterwards.
 */
import { MINUTE, SECOND } from '../../core/clock.js'
import type { FulfillmentLimits, Recovery } from '../../distributors/fulfillment.js'
import { WORDS } from './words.js'
import type { Words } from './words.js'

export interface Profile {
  readonly distid: string
  readonly recovery: Recovery
  readonly limits: FulfillmentLimits
  /** The setting that names the account; undefined where a token alone does. */
  readonly account?: string
  /** Firearms and accessories go in orders of their own. */
  readonly refusesMix: boolean
  readonly words: Words
  /** From when its lists show an order: at once, confirmed, or only shipped. */
  readonly shows: 'at_once' | 'confirmed' | 'shipped'
  /** What they tell of it besides number and PO. */
  readonly tells: { readonly reference: boolean; readonly content: boolean }
  /** Carrier and method for what goes to a dealer, and for the rest. */
  readonly firearms: readonly [carrier: string, method: string]
  readonly others: readonly [carrier: string, method: string]
}

const common: FulfillmentLimits = {
  po: { max: 30 },
  sendTimeout: 60 * SECOND,
  visibilityLag: MINUTE,
  updatesEvery: 10 * SECOND,
}
/** Reports in which an order appears once it is shipped. */
const REPORTED = 5 * MINUTE

const PROFILES: readonly Profile[] = [
  {
    distid: 'RSR',
    recovery: 'resend',
    account: 'api_user',
    refusesMix: true,
    words: WORDS.RSR,
    shows: 'confirmed',
    tells: { reference: true, content: true },
    limits: { ...common, po: { max: 22, chars: /[A-Za-z0-9 -]/ }, needsConsumerPhone: 'ffl' },
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
  {
    distid: 'CSSI',
    recovery: 'lookup',
    account: 'api_sid',
    refusesMix: false,
    words: WORDS.CSSI,
    shows: 'at_once',
    tells: { reference: true, content: true },
    limits: { ...common, po: { max: 24 } },
    firearms: ['UPS', '2nd Day Air'],
    others: ['FedEx', 'Ground'],
  },
  {
    distid: 'TSW',
    recovery: 'staged',
    account: 'api_customer_number',
    refusesMix: false,
    words: WORDS.TSW,
    shows: 'at_once',
    tells: { reference: true, content: true },
    // Several calls, each of which it may take its time for.
    limits: {
      ...common,
      needsConsumerPhone: 'always',
      sendTimeout: 5 * MINUTE,
      visibilityLag: 2 * MINUTE,
    },
    firearms: ['UPS', 'Next Day Air'],
    others: ['UPS', 'Ground'],
  },
  {
    distid: '2AW',
    recovery: 'staged',
    refusesMix: false,
    words: WORDS['2AW'],
    shows: 'at_once',
    tells: { reference: true, content: true },
    limits: { ...common, po: { max: 40 }, concurrency: 1 },
    firearms: ['UPS', '2nd Day Air'],
    others: ['UPS', 'Ground'],
  },
  {
    distid: 'LIP',
    recovery: 'one_shot',
    account: 'api_user',
    refusesMix: true,
    words: WORDS.LIP,
    shows: 'shipped',
    tells: { reference: false, content: false },
    limits: { ...common, needsConsumerPhone: 'ffl', visibilityLag: REPORTED },
    firearms: ['FedEx', '2Day'],
    others: ['FedEx', 'Ground'],
  },
  {
    distid: 'ZND',
    recovery: 'one_shot',
    account: 'firearms_user',
    refusesMix: true,
    words: WORDS.ZND,
    shows: 'shipped',
    tells: { reference: false, content: true },
    limits: { ...common, po: { max: 22 }, visibilityLag: REPORTED },
    firearms: ['UPS', '2nd Day Air'],
    others: ['USPS', 'Priority Mail'],
  },
  {
    distid: 'BILL',
    recovery: 'file',
    account: 'customer_number',
    refusesMix: false,
    words: WORDS.BILL,
    shows: 'at_once',
    tells: { reference: true, content: true },
    // The PO stands in the file's name at the real one, and a tab or a slash would tear the file
    // apart.
    limits: { ...common, po: { max: 30, chars: /[A-Za-z0-9._-]/ } },
    firearms: ['UPS', 'UPSR'],
    others: ['UPS', 'UPSF'],
  },
]

const byDistid = new Map(PROFILES.map((profile) => [profile.distid, profile]))

/** The distids of the distributors that are played. */
export const SIMULATED = PROFILES.map(({ distid }) => distid)

/** How a distributor is played; undefined for one that is not. */
export function profileOf(distid: string): Profile | undefined {
  return byDistid.get(distid)
}
