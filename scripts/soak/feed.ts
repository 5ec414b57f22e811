/**
 * Davidson's file with so many rows, as it is in its so manieth update:
 * `npx tsx scripts/soak/feed.ts FILE ROWS UPDATE`. One row in twenty has another price and quantity
 * than in the update before. Written under another name first, since a server may be reading it.
 */
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'

const HEADER =
  'Item #,Item Description,Retail Price,Dealer Price,Sale Price,Sale Ends,Quantity,UPC Code,' +
  'Manufacturer,Gun Type,Model Series,Caliber,Action,Capacity,Finish,Stock,Sights,' +
  'Barrel Length,Overall Length,Features\r\n'
const TYPES = ['Pistol: Semi-Auto', 'Rifle: Bolt Action', 'Shotgun: Pump Action', '', '', '']
const CALIBERS = ['9MM', '.223', '12GA', '.308', '.45ACP', '6.5CM']
const ROWS_AT_ONCE = 2_000
/** One row in so many changes with each update. */
const CHANGING = 20

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`

function withCheckDigit(eleven: number): string {
  const digits = String(eleven)
  const sum = [...digits].reduce((all, digit, i) => all + Number(digit) * (i % 2 === 0 ? 3 : 1), 0)
  return digits + ((10 - (sum % 10)) % 10)
}

/** A row of the file; `update` counts from 0. */
export function rowOf(i: number, update: number): string {
  const type = TYPES[i % TYPES.length]!
  const caliber = CALIBERS[i % CALIBERS.length]!
  // How often this row has changed by now: each update changes another twentieth of all.
  const turns = Math.floor((update + CHANGING - (i % CHANGING) - 1) / CHANGING)
  const cost = Math.round((2_000 + ((i * 7919) % 180_000)) * (1 + (turns % 5) / 100))
  const qty = (i * 31 + turns * 3) % 60
  return (
    `SOAK-${i},ACME MODEL ${i % 977} ${caliber} ${type.toUpperCase() || 'RANGE BAG'} ${i},` +
    `${dollars(Math.round(cost * 1.3))},${dollars(cost)},,,${qty},#${withCheckDigit(60_000_000_000 + i)}#,` +
    `Brand ${i % 400},${type},M${i % 977},${caliber},,${i % 30},Black,Synthetic,,16,32,` +
    'Made up for the soak run\r\n'
  )
}

function writeFeed(file: string, rows: number, update: number): void {
  const draft = `${file}.draft`
  const out = openSync(draft, 'w')
  try {
    writeSync(out, HEADER)
    for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
      const count = Math.min(ROWS_AT_ONCE, rows - from)
      writeSync(out, Array.from({ length: count }, (_, n) => rowOf(from + n, update)).join(''))
    }
  } finally {
    closeSync(out)
  }
  renameSync(draft, file)
}

const [file, rows, update] = process.argv.slice(2)
if (file !== undefined) writeFeed(file, Number(rows), Number(update))
