/** What is posted to RSR's `place-order`, within the widths of its fields. */
import type { Destination, PurchaseOrder } from '../../fulfillment.js'
import type { RsrSettings } from './accounts.js'
import { plain } from '../../plain-text.js'
import { textOf } from '../../session/reply.js'

/** Characters of RSR's fields. */
const WIDTH = { name: 25, phone: 20, street: 35, city: 25 } as const

/** The body, without the login; or why RSR's fields cannot hold the order. */
export function payloadOf(
  order: PurchaseOrder,
  { order_email, quantity_field }: RsrSettings,
): { body: Record<string, unknown> } | { fault: string } {
  const { po, lines, shipToStore } = order
  const email = textOf(order_email)
  const quantity = textOf(quantity_field) ?? 'WishQTY'
  const recipient = shipToStore ? { fields: { ShipToStore: 'Y' } } : recipientOf(order)
  if ('fault' in recipient) return recipient
  return {
    body: {
      PONum: po,
      ...(email !== null && { Email: email }),
      ...recipient.fields,
      Items: lines.map(({ distsku, upc, qty }) => ({
        PartNum: distsku,
        [quantity]: qty,
        ...(upc !== '' && { UPCcode: upc }),
      })),
    },
  }
}

/** A firearm goes to the dealer's address, and bears the name of whom it is for. */
function recipientOf({
  shipTo,
  customer,
  ffl,
}: PurchaseOrder): { fields: Record<string, string> } | { fault: string } {
  const streets = streetsOf(shipTo)
  const city = plain(shipTo.city)
  if (streets === null)
    return { fault: `the address is longer than RSR's two lines of ${WIDTH.street} characters` }
  if (city.length > WIDTH.city)
    return { fault: `the city is longer than RSR's ${WIDTH.city} characters` }
  return {
    fields: {
      StoreName: cut(plain(ffl ? customer.name : shipTo.name), WIDTH.name),
      ContactNum: phoneOf((ffl ? customer.phone : (shipTo.phone ?? customer.phone)) ?? ''),
      ShipAddress: streets[0],
      ShipAddress2: streets[1],
      ShipCity: city,
      ShipState: shipTo.state.toUpperCase(),
      ShipZip: shipTo.zip,
      // 15 characters, without dashes.
      ...(ffl && { ShipFFL: ffl.licenseNumber.replaceAll('-', '') }),
      ShipToStore: 'N',
    },
  }
}

/** Two lines that RSR can hold, broken between words; null where there is no room. */
function streetsOf({ address1, address2 }: Destination): [string, string] | null {
  const given = [plain(address1), plain(address2 ?? '')] as [string, string]
  if (given.every((line) => line.length <= WIDTH.street)) return given
  const words = given.join(' ').split(' ').filter(Boolean)
  let first = ''
  while (words[0] !== undefined && `${first} ${words[0]}`.trim().length <= WIDTH.street)
    first = `${first} ${words.shift()}`.trim()
  const second = words.join(' ')
  return first !== '' && second.length <= WIDTH.street ? [first, second] : null
}

const cut = (text: string, width: number) => text.slice(0, width).trim()

function phoneOf(phone: string): string {
  return phone.length <= WIDTH.phone ? phone : cut(phone.replaceAll(/\D/g, ''), WIDTH.phone)
}
