/** What changed from one version of the document to another. */
import type { Output } from '../../core/api.js'
import { Badge } from '../../parts/basics.js'
import { Table } from '../../parts/table.js'
import type { Column } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.configuration

export type Difference = Output<'configurations.diff'>[number]
const TONES = { added: 'good', removed: 'bad', changed: 'accent' } as const
const short = (value: unknown) =>
  value === undefined ? '–' : <code class="cut">{JSON.stringify(value)}</code>

const COLUMNS: readonly Column<Difference>[] = [
  { head: t.where, cell: ({ path }) => <code>{path}</code>, isLong: true },
  { head: t.change, cell: ({ change }) => <Badge tone={TONES[change]}>{change}</Badge> },
  { head: t.before, cell: ({ before }) => short(before) },
  { head: t.after, cell: ({ after }) => short(after) },
]

export function DifferenceTable({
  label,
  differences,
  more = [],
}: {
  label: string
  differences: readonly Difference[]
  /** Columns beside them. */
  more?: readonly Column<Difference>[]
}) {
  return (
    <Table
      label={label}
      rows={differences}
      keyOf={(one) => `${one.path} ${JSON.stringify(one)}`}
      empty={<p class="quiet pad">{t.nothingChanged}</p>}
      columns={[...COLUMNS, ...more]}
    />
  )
}
