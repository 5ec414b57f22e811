/** The addresses that Zanders' simulator knows of dealers; it makes one for whoever asks. */
import { createHash } from 'node:crypto'
import { perform } from '../../../simulator/engine/perform.js'
import type { Handled, WireAnswer } from '../../../simulator/wire/http-simulator.js'
import { textIn } from './api.js'
import { itemsOf } from './simulator-items.js'
import { answer, refusal } from './simulator-operation.js'
import type { Call } from './simulator-operation.js'
import type { AnsweredMap, ValueMap } from './soap.js'

const REQUIRED = ['name', 'address1', 'city', 'state', 'zip', 'fflno', 'fflexp']
const LICENSE = /^\d{3}[0-9A-Z]{5}$/
/** Licenses end so whose dealer Zanders knows at another place, and of which it has no copy. */
const [ELSEWHERE, NO_COPY] = ['99999', '00000']

/** Known from the order where it is one of this app's, else from the catalog. */
export function isSerialized({ world, request: { visit } }: Call, sku: string): boolean {
  return visit
    ? visit.send.order.lines.some(({ distsku, fflRequired }) => distsku === sku && fflRequired)
    : itemsOf(world).some((item) => item['itemnumber'] === sku && item['serialized'] === 'Y')
}

/** The number of a dealer's ship-to: made at first, found again afterwards. */
export function useShipTo(call: Call): Handled {
  const { world, request, isFirst } = call
  const tell = (): WireAnswer => shipTo(call)
  if (!request.visit) return { answer: tell() }
  const kind = { name: 'ship-to', step: isFirst ? 'first' : 'middle', isReached: true } as const
  const { fault, result } = perform(world, request.visit.send, kind, tell)
  return { answer: result ?? { status: 200, body: '' }, fault }
}

function shipTo(call: Call): WireAnswer {
  const info = call.params.get('addressinfo')
  const given: AnsweredMap =
    info !== undefined && typeof info === 'object' && 'size' in info ? info : new Map()
  const field = (name: string) => textIn(given, name) ?? ''
  const missing = REQUIRED.find((name) => field(name) === '')
  if (missing !== undefined) return refusal(call, `return code 2: ${missing} is missing`)
  const license = field('fflno')
  if (!LICENSE.test(license)) return refusal(call, call.profile.words.badFfl)
  const number = numberOf(license, field('zip'))
  const key = `${call.account} ${number}`
  const isKnown = call.shipTos.has(key)
  const { request } = call
  const lacksCopy = license.endsWith(NO_COPY) || request.visit?.send.arrival.scenario === 'HOLD'
  call.shipTos.set(key, {
    name: field('name'),
    address1: field('address1'),
    zip: field('zip'),
  })
  const address: ValueMap = {
    ShipToCustomerNo: '900007',
    ShipToNo: number,
    ShipToName: field('name'),
    ShipToAddress1: field('address1'),
    ShipToAddress2: field('address2'),
    ShipToCity: field('city'),
    ShipToState: field('state'),
    ShipToZipCode: license.endsWith(ELSEWHERE) ? '00501' : field('zip'),
    ShipToFFLNo: lacksCopy ? '' : license,
    ShipToFFLExpDate: lacksCopy ? '1969-12-31T00:00:00' : `${field('fflexp')}T00:00:00`,
  }
  return answer(
    call,
    isKnown
      ? { returnCode: 15, reason: 'The address exists already', searchResults: address }
      : { returnCode: 0, shipToAddress: address },
  )
}

/** Four digits, never those of the store. */
function numberOf(license: string, zip: string): string {
  const digest = createHash('sha256').update(`${license} ${zip}`).digest()
  return String(1_000 + (digest.readUInt32BE(0) % 9_000))
}
