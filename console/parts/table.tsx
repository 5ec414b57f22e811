/** Rows and columns; a row that leads somewhere is a link, and j and k go from row to row. */
import type { ComponentChildren } from 'preact'
import { texts } from '../texts.js'
import { Button } from './basics.js'
import { useSideways } from './sideways.js'

export interface Column<Row> {
  head: string
  cell: (row: Row) => ComponentChildren
  /** Figures stand to the right. */
  isNumber?: boolean
  /** Left out where the screen is narrow. */
  isWide?: boolean
  /** Takes the room that is left. */
  isLong?: boolean
}

export interface TableProps<Row> {
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string | number
  /** Where a row leads; its first cell is the link. */
  hrefOf?: (row: Row) => string
  /** What stands there without rows. */
  empty?: ComponentChildren
}

export function Table<Row>({ label, columns, rows, keyOf, hrefOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <>{empty ?? <p class="quiet pad">{texts.words.nothing}</p>}</>
  return (
    <Wide label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" class={classOf(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={hrefOf && 'leads'}>
              {columns.map((column, place) => (
                <td key={column.head} class={classOf(column)}>
                  {hrefOf && place === 0 ? (
                    <a href={hrefOf(row)} data-row>
                      {column.cell(row)}
                    </a>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  )
}

function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  const ref = useSideways<HTMLDivElement>()
  return (
    <div class="sideways">
      <div class="table" role="group" aria-label={label} tabIndex={0} ref={ref}>
        {children}
      </div>
    </div>
  )
}

const classOf = <Row,>({ isNumber, isWide, isLong }: Column<Row>) =>
  [isNumber && 'number', isWide && 'wide', isLong && 'long'].filter(Boolean).join(' ') || undefined

/** Pages of a long list. */
export function Pager({
  from,
  shown,
  total,
  size,
  onGo,
}: {
  /** Rows before the first one. */
  from: number
  shown: number
  total: number
  size: number
  onGo: (from: number) => void
}) {
  if (total <= size && from === 0) return null
  return (
    <nav class="pager" aria-label={texts.words.pages}>
      <span>{texts.words.range(from + 1, from + shown, total)}</span>
      <Button disabled={from === 0} onClick={() => onGo(Math.max(0, from - size))}>
        {texts.words.previous}
      </Button>
      <Button disabled={from + shown >= total} onClick={() => onGo(from + size)}>
        {texts.words.next}
      </Button>
    </nav>
  )
}
