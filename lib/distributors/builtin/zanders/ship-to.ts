/** The ship-to that Zanders has, or makes, for a dealer: nothing is ordered by it. */
import { dayOf } from '../../../core/clock.js'
import type { Destination, PurchaseOrder, Submission } from '../../fulfillment.js'
import { writtenDay } from '../../days.js'
import { NoReply } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import type { Login } from './accounts.js'
import { ask, DONE, mapsIn, saying, textIn } from './api.js'
import type { Reply } from './api.js'
import { addressOf, shortLicense } from './payloads.js'
import type { AnsweredMap } from './soap.js'

/** Another code than 0 that comes with a ship-to. */
const FOUND = 15

/** Where an order goes: null for one that says so itself. */
export interface ShipTo {
  readonly number: string | null
  /** Zanders has no license of the dealer, or one that has expired. */
  readonly lacksLicense: boolean
}

const OF_ORDER: ShipTo = { number: null, lacksLicense: false }

/**
 * Asks for the number of a dealer's ship-to, or tells how the send ended. Whatever comes of it,
 * nothing was ordered; asking twice finds what was made at first.
 */
export async function shipToOf(
  session: Session,
  login: Login,
  order: PurchaseOrder,
): Promise<ShipTo | Submission> {
  const address = addressOf(order)
  if (address === null) return OF_ORDER
  try {
    const reply = await ask(session, login, ['shiptoaddresses', 'useShipTo'], {
      addressinfo: address,
    })
    return chosen(session, order, reply)
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    const { message, retryAfter } = error
    return {
      outcome: 'not_sent',
      reason: `useShipTo: ${message}`,
      ...(retryAfter !== undefined && { retryAfter }),
    }
  }
}

/** The one that is this dealer's. What it shows of another one is never ordered to. */
function chosen(session: Session, order: PurchaseOrder, reply: Reply): ShipTo | Submission {
  const told = [...mapsIn(reply.told, 'shipToAddress'), ...mapsIn(reply.told, 'searchResults')]
  const numbered = told.filter((one) => textIn(one, 'ShipToNo') !== null)
  if (reply.code !== DONE && reply.code !== FOUND) return refused(reply)
  if (numbered.length === 0)
    return { outcome: 'not_sent', reason: `useShipTo names no ship-to (${saying(reply)})` }
  const fitting = numbered.filter((one) => isOf(one, order))
  const numbers = new Set(fitting.map((one) => textIn(one, 'ShipToNo')!))
  const [number] = numbers
  if (number === undefined || numbers.size > 1)
    return {
      outcome: 'rejected',
      reason:
        `Zanders has ${number === undefined ? 'another address' : 'several addresses'} for the ` +
        `license ${order.ffl!.licenseNumber}: ask them to correct it; nothing was sent`,
    }
  return { number, lacksLicense: fitting.every((one) => isUnlicensed(one, session.now())) }
}

/** Without a reason it may be any trouble of theirs, and is tried again. */
const refused = (reply: Reply): Submission =>
  reply.reason === ''
    ? { outcome: 'not_sent', reason: `useShipTo: ${saying(reply)}` }
    : { outcome: 'rejected', reason: `useShipTo: ${saying(reply)}; nothing was sent` }

/** False where what it shows is surely another dealer's, or another place. */
function isOf(shown: AnsweredMap, { ffl, shipTo }: PurchaseOrder): boolean {
  const differs = (name: string, ours: string, cut: (text: string) => string | undefined) => {
    const [theirs, own] = [cut(textIn(shown, name) ?? ''), cut(ours)]
    return theirs !== undefined && theirs !== '' && theirs !== own
  }
  return !(
    differs('ShipToFFLNo', shortLicense(ffl!.licenseNumber), (text) => shortLicense(text.trim())) ||
    differs('ShipToState', shipTo.state, (text) => text.trim().toUpperCase()) ||
    differs('ShipToZipCode', shipTo.zip, (text) => text.trim().slice(0, 5)) ||
    (houseNumber(shipTo) !== undefined &&
      differs('ShipToAddress1', shipTo.address1, (text) => houseNumber({ address1: text })))
  )
}

const houseNumber = ({ address1 }: Pick<Destination, 'address1'>): string | undefined =>
  /^\s*(\d+)/.exec(address1)?.[1]

function isUnlicensed(shown: AnsweredMap, now: number): boolean {
  if (!shown.has('ShipToFFLNo')) return false
  const expires = writtenDay(textIn(shown, 'ShipToFFLExpDate') ?? '')
  return textIn(shown, 'ShipToFFLNo') === null || (expires !== null && expires < dayOf(now))
}
