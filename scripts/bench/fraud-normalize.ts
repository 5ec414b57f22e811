/**
 * The signals of fraud checks, normalized: shipping and billing address, e-mail, phone, two names
 * and three items each, on the 690 business addresses of the shared data, in turns with
 * parse-address on the same two lines. Goal: below 50 microseconds a request.
 *   npx tsx scripts/bench/fraud-normalize.ts [rounds] [file of addresses]
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { normalizeAddress } from '../../lib/fraud/signals/address/address.js'
import { normalizeEmail } from '../../lib/fraud/signals/email.js'
import { itemKeys, itemNameKey } from '../../lib/fraud/signals/items.js'
import { normalizeName } from '../../lib/fraud/signals/names.js'
import { normalizePhone } from '../../lib/fraud/signals/phone.js'

const ROUNDS = Number(process.argv[2] ?? 30)
const FILE = process.argv[3] ?? join('..', 'shared', 'data', 'address', 'usaddress__us50.test.raw')
const GOAL = 50
const { parseLocation } = createRequire(import.meta.url)('parse-address') as {
  parseLocation: (text: string) => unknown
}

const ITEMS = [
  { upc: '764503037108', sku: 'PA195S203', name: 'GLOCK G19 Gen 5 9mm Luger 15rd 4.02"' },
  { upc: '736676011032', sku: 'RU1103', name: 'Ruger 10/22 Carbine .22 LR 18.5" BLK' },
  { upc: '020892214446', sku: 'WI-AA128', name: 'Winchester AA 12 ga 2.75" #8 25 rounds' },
]
const lines = readFileSync(FILE, 'utf8').trim().split('\n')
const requests = lines.map((line, i) => {
  const parts = line.split(', ')
  const [state, postcode] = parts.pop()!.split(' ')
  const city = parts.pop()
  return {
    address: {
      address1: parts.join(', '),
      address2: i % 3 === 0 ? `Apt ${i}` : null,
      city,
      state,
      postcode,
      country: 'US',
    },
    email: `Pat.Doe+${i}@${i % 2 === 0 ? 'gmail.com' : 'shop.example'}`,
    phone: `(602) 555-${String(1_000 + i)}`,
    names: [`Doe, Pat ${i % 2 === 0 ? 'Q.' : ''}`, 'Sam Poe Jr.'],
  }
})

let sink = 0
/** All signals of a request; a length is kept so that nothing is optimized away. */
function ours(i: number): void {
  const { address, email, phone, names } = requests[i]!
  sink +=
    (normalizeAddress(address)?.length ?? 0) +
    (normalizeAddress(requests[(i + 1) % requests.length]!.address)?.length ?? 0) +
    (normalizeEmail(email)?.length ?? 0) +
    (normalizePhone(phone, 'US')?.length ?? 0)
  for (const name of names) sink += normalizeName(name)?.length ?? 0
  for (const item of ITEMS) sink += itemKeys(item).length + (itemNameKey(item.name)?.length ?? 0)
}
const addresses = (i: number) =>
  void (sink +=
    (normalizeAddress(requests[i]!.address)?.length ?? 0) +
    (normalizeAddress(requests[(i + 1) % requests.length]!.address)?.length ?? 0))
const yardstick = (i: number) =>
  void (sink +=
    (parseLocation(lines[i]!) ? 1 : 0) + (parseLocation(lines[(i + 1) % lines.length]!) ? 1 : 0))

const runs = {
  'all signals': ours,
  'its two addresses': addresses,
  'parse-address, two': yardstick,
}
const times = Object.fromEntries(Object.keys(runs).map((name) => [name, [] as number[]]))
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(runs)) {
    const started = performance.now()
    for (let i = 0; i < requests.length; i++) run(i)
    times[name]!.push(((performance.now() - started) / requests.length) * 1_000)
  }
}
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!
const base = median(times['parse-address, two']!)
for (const name of Object.keys(runs))
  console.log(
    `${name.padEnd(20)} ${median(times[name]!).toFixed(1).padStart(7)} us a request  ` +
      `${(median(times[name]!) / base).toFixed(2)} x parse-address`,
  )
console.log(
  `${median(times['all signals']!) < GOAL ? 'ok  ' : 'FAIL'} goal: all signals of a request ` +
    `below ${GOAL} us  (${sink})`,
)
