/** RSR's inventory file, written by hand for suites of its flags. */
import { COLUMNS, STATES } from '../../lib/distributors/builtin/rsr/feed.js'

export interface RsrLine {
  stock: string
  upc?: string
  /** Two letters each; `Y` stands in their columns. */
  flags?: readonly string[]
  /** Further cells by column. */
  cells?: Readonly<Record<string, string>>
}

/** One file; quantity 5 and a price of its own, so that nothing but the flags is remarkable. */
export function rsrFile(lines: readonly RsrLine[]): string {
  return lines.map(rsrLine).join('')
}

function rsrLine({ stock, upc = '', flags = [], cells = {} }: RsrLine): string {
  const row: Record<string, string> = {
    stock,
    upc,
    description: `ITEM ${stock}`,
    department: '13',
    manufacturer: 'Acme',
    price: '20.00',
    quantity: '5',
    ...Object.fromEntries(flags.map((state) => [state, 'Y'])),
    ...cells,
  }
  const unknown = flags.filter((state) => !STATES.includes(state))
  if (unknown.length > 0) throw new Error(`RSR has no flag for ${unknown.join(', ')}`)
  return `${COLUMNS.map((column) => row[column] ?? '').join(';')}\r\n`
}
