import { DAY, dayOf } from '../../../core/clock.js'
import { makeDemoDealers } from '../../../simulator/market/dealers.js'
import type { Good } from '../../../simulator/market/goods.js'
import { brandAt, CAPACITY_STATES } from '../../../simulator/market/market.js'
import type { DemoOffer } from '../../../simulator/market/offers.js'
import { expandedDescription, nameAt } from '../../../simulator/market/spelling.js'
import { dollars } from '../../../simulator/market/units.js'

/** Columns 16-66, in the file's own order, which is not quite the alphabet's. */
const STATES = (
  'AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE ' +
  'NH NJ NM NV NY OH OK OR PA RI SC SD ' +
  'TN TX UT VA VT WA WI WV WY'
).split(' ')

/** RSR's inventory file: `;` between fields, no header, no quoting, 77 columns. */
export function rsrFeed(offers: DemoOffer[], asOf: number): string {
  const days: string[] = []
  const entered = (age: number) => (days[age] ??= dayOf(asOf - age * DAY).replaceAll('-', ''))
  let text = ''
  for (const offer of offers) text += `${rsrRow(offer, entered(offer.listedDays))}\r\n`
  return text
}

function rsrRow(offer: DemoOffer, entered: string): string {
  const { good, sku } = offer
  const { family } = good
  return [
    sku,
    good.upc ?? '',
    nameAt('RSR', good),
    family.rsr!,
    good.brand,
    dollars(offer.msrp),
    dollars(offer.price),
    String(good.ounces),
    String(offer.qty),
    good.model,
    brandAt('RSR', good.brand),
    good.mpn,
    offer.allocated ? 'Allocated' : offer.reduced ? 'Closeout' : '',
    expandedDescription(good),
    `${sku}_1.jpg`,
    stateFlags(good),
    flag(family.flags.has('ground')),
    flag(family.flags.has('adult')),
    flag(!offer.dropShip),
    entered,
    dollars(offer.map),
    '',
    ...good.size,
    flag(family.class === 'AO'),
    family.flags.has('sot') ? '' : 'Y',
  ].join(';')
}

const flagged = new Map<string, string>()

/**
 * The 51 columns of states, joined; `Y` = may not be shipped there. They depend on few things, so
 * they are made once.
 */
function stateFlags({ family, values }: Good): string {
  const capacity = family.flags.has('capacity') && Number(values['capacity']) > 10
  const key = `${family.id} ${capacity}`
  let flags = flagged.get(key)
  if (flags === undefined) {
    const states = new Set([...family.states, ...(capacity ? CAPACITY_STATES : [])])
    flags = STATES.map((state) => flag(states.has(state))).join(';')
    flagged.set(key, flags)
  }
  return flags
}

function flag(on: boolean): string {
  return on ? 'Y' : ''
}

/** RSR's list of dealers whose license it has: those of the demo that it has, as of a time. */
export function rsrDealers(asOf: number): string {
  const { dealers, onFile } = makeDemoDealers(asOf)
  const has = new Set(onFile.filter(({ distid }) => distid === 'RSR').map((one) => one.dealer_id))
  return dealers
    .filter(({ id }) => has.has(id))
    .map((one) =>
      [
        one.license_name,
        one.premise_street,
        one.premise_city,
        one.premise_state,
        one.premise_zip,
        one.license_number,
      ].join(';'),
    )
    .map((row) => `${row}\r\n`)
    .join('')
}
