/** The figures of a feed beside those of the last good one. */
import type { Output } from '../../core/api.js'
import { count } from '../../core/format.js'
import { Badge } from '../../parts/basics.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.feeds
export type FeedResult = Output<'feeds.import'>

const FIGURES = [
  'rows',
  'rejected',
  'offers',
  'added',
  'changed',
  'removed',
  'price_changes',
  'stock_changes',
] as const

export function Figures({
  would,
  last,
}: {
  would: FeedResult
  last: { rows: number; rejected: number } | null
}) {
  return (
    <Table
      label={t.figures}
      rows={FIGURES.filter((name) => would[name] !== undefined)}
      keyOf={(name) => name}
      columns={[
        { head: t.figure, cell: (name) => t.names[name] },
        { head: t.thisFeed, cell: (name) => count(would[name]), isNumber: true },
        {
          head: t.lastGood,
          cell: (name) => (last && name in last ? count(last[name as 'rows' | 'rejected']) : '–'),
          isNumber: true,
        },
      ]}
    />
  )
}

/** What the guard measured of a feed, beside what it allows. */
export function Watched({ watched }: Pick<FeedResult, 'watched'>) {
  return (
    <Table
      label={t.watched}
      rows={watched}
      keyOf={({ name }) => name}
      columns={[
        { head: t.watched, cell: ({ name }) => t.shares[name] },
        { head: t.share, cell: ({ part, of }) => t.partOf(part, of), isNumber: true },
        { head: t.most, cell: ({ most }) => t.percent(most), isNumber: true },
        {
          head: texts.words.state,
          cell: ({ over }) => (
            <Badge tone={over ? 'bad' : 'good'}>{over ? t.tooMuch : t.within}</Badge>
          ),
        },
      ]}
    />
  )
}

/** Rows that could not be used, with their lines. */
export function Rejects({
  rows,
}: {
  rows: readonly { line: number; reason: string; text: string }[]
}) {
  return (
    <Table
      label={t.rejects}
      rows={rows}
      keyOf={({ line }) => line}
      empty={<p class="quiet pad">{t.noRejects}</p>}
      columns={[
        { head: t.line, cell: ({ line }) => count(line), isNumber: true },
        { head: texts.words.reason, cell: ({ reason }) => reason, isLong: true },
        { head: t.asItStands, cell: ({ text }) => <code class="cut">{text}</code>, isLong: true },
      ]}
    />
  )
}
