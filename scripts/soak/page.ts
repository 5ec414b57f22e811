/** What a soak run means, as a verdict, a plot and a page of the guide. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FIRST, FOLLOWS_DARK, INK, PAPER, SECOND, SHADE } from '../picture.js'
import type { KindFigures, Sample } from './record.js'

const PAGE = join('data', 'guide', 'soak.md')
const PICTURE = join('data', 'guide', 'pictures', 'soak.svg')
/** Between these lines of the page stands what the script writes. */
const [FROM, TO] = ['<!-- figures: scripts/soak/run.ts -->', '<!-- end of figures -->']

/** Something that was done to the server, in seconds from the beginning. */
export interface Happening {
  what: string
  from: number
  to: number
}

export interface SoakResult {
  minutes: number
  rate: number
  rows: number
  machine: { cores: number; gigabytes: number }
  node: string
  happenings: Happening[]
  samples: Sample[]
  kinds: KindFigures[]
  /** Ids of orders that were answered with 200 and are not known. */
  lost: string[]
  placed: number
  journalOk: boolean
  /** Lines of level error. */
  errors: string[]
}

/** Seconds before and after a happening in which an answer may be none, or a 503. */
const MARGIN = 15

const during = ({ happenings }: SoakResult, at: number) =>
  happenings.some(
    ({ what, from, to }) =>
      (what === 'restart' || what === 'full disk') && at > from - MARGIN && at < to + MARGIN,
  )

/** Answers that were none or 5xx, while nothing was done to the server. */
function unexpected(result: SoakResult): number {
  return result.samples
    .filter(({ at }) => !during(result, at))
    .flatMap(({ statuses }) => Object.entries(statuses))
    .filter(([status]) => status === '0' || status.startsWith('5'))
    .reduce((all, [, count]) => all + count, 0)
}

/** Median of the memory in a part of the run, in bytes. */
function memoryIn({ samples }: SoakResult, from: number, to: number): number {
  const sorted = samples
    .slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
    .flatMap(({ memory }) => memory ?? [])
    .sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

export function verdictOf(result: SoakResult): { ok: boolean; lines: string[] } {
  const failed = unexpected(result)
  const { lost, placed, journalOk, errors } = result
  const total = result.kinds.reduce((all, { answers }) => all + answers, 0)
  const lines = [
    `${total} requests; without an answer or 5xx while nothing was done to the server: ${failed}`,
    `${placed} orders were answered with 200, ${lost.length} of them are not known`,
    `the journal ${journalOk ? 'verifies' : 'DOES NOT VERIFY'}`,
    `memory, median of the second sixth ${megabytes(memoryIn(result, 1 / 6, 1 / 3))}, of the ` +
      `last ${megabytes(memoryIn(result, 5 / 6, 1))}`,
    `${errors.length} lines of level error`,
    ...errors.slice(0, 20),
    ...result.kinds.map(
      ({ kind, answers, p50, p99, worst, statuses }) =>
        `${kind.padEnd(14)} ${String(answers).padStart(8)}  p50 ${p50.toFixed(1)} ms, p99 ` +
        `${p99.toFixed(1)} ms, worst ${worst.toFixed(0)} ms, ${JSON.stringify(statuses)}`,
    ),
  ]
  return { ok: failed === 0 && lost.length === 0 && journalOk, lines }
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
const figure = (n: number) => n.toLocaleString('en-US')

/** Writes the plot, and the figures into the page. */
export function writePage(result: SoakResult): void {
  writeFileSync(PICTURE, plotOf(result))
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest] = page.split(FROM)
  const [, after] = (rest ?? '').split(TO)
  if (rest === undefined || after === undefined) throw new Error(`${PAGE} has no place for figures`)
  writeFileSync(PAGE, `${before}${FROM}\n\n${figuresOf(result)}\n\n${TO}${after}`)
}

function figuresOf(result: SoakResult): string {
  const { minutes, rate, rows, machine, node, lost, placed, happenings, kinds } = result
  const away = happenings.find(({ what }) => what === 'restart')
  return [
    `${minutes} minutes, ${figure(rate)} requests a second, ${figure(rows)} offers, on ${machine.cores} ` +
      `shared cores with ${machine.gigabytes} GB, Node ${node.slice(1)}. The load generator shares the cores.`,
    [
      '| | |',
      '|---|---|',
      `| requests | ${figure(kinds.reduce((all, { answers }) => all + answers, 0))} |`,
      `| no answer or 5xx, while nothing was done to the server | ${figure(unexpected(result))} |`,
      `| orders answered with 200, and not known afterwards | ${figure(placed)}, ${lost.length} |`,
      `| the order journal | ${result.journalOk ? 'verifies' : 'does not verify'} |`,
      ...(away ? [`| SIGTERM to serving again | ${(away.to - away.from).toFixed(1)} s |`] : []),
      '| memory after ten minutes, and in the last ten | ' +
        `${megabytes(memoryIn(result, 1 / 6, 1 / 3))}, ${megabytes(memoryIn(result, 5 / 6, 1))} |`,
      `| log lines of level error | ${result.errors.length} |`,
    ].join('\n'),
    [
      '| Request | Answers | p50 ms | p99 ms | worst ms | other than 200 |',
      '|---|---|---|---|---|---|',
      ...kinds.map(({ kind, answers, p50, p99, worst, statuses }) => {
        const others = Object.entries(statuses)
          .filter(([status]) => status !== '200')
          .map(([status, count]) => `${status === '0' ? 'no answer' : status}: ${figure(count)}`)
        const times = [p50.toFixed(1), p99.toFixed(1), worst.toFixed(0)]
        return `| ${[kind, figure(answers), ...times, others.join(', ') || '-'].join(' | ')} |`
      }),
    ].join('\n'),
  ].join('\n\n')
}

const [WIDTH, LEFT, RIGHT, PANEL, GAP, TOP] = [960, 90, 20, 130, 34, 46]

interface Panel {
  title: string
  series: { color: string; of: (sample: Sample) => number | null }[]
  isLogarithmic?: boolean
}

const PANELS: readonly Panel[] = [
  {
    title: 'answer time, ms: p50 and p99 (logarithmic)',
    series: [
      { color: FIRST, of: ({ p50 }) => p50 },
      { color: SECOND, of: ({ p99 }) => p99 },
    ],
    isLogarithmic: true,
  },
  {
    title: 'event loop delay p99, ms (logarithmic)',
    series: [{ color: FIRST, of: ({ loopDelay }) => loopDelay }],
    isLogarithmic: true,
  },
  {
    title: 'memory of the process, MB',
    series: [{ color: FIRST, of: ({ memory }) => memory && memory / 1e6 }],
  },
  {
    title: 'answers a second: all, and other than 200',
    series: [
      { color: FIRST, of: ({ answers }) => answers / 10 },
      { color: SECOND, of: ({ answers, statuses }) => (answers - (statuses['200'] ?? 0)) / 10 },
    ],
  },
]

/** Four panels over one axis of time; what was done to the server is shaded. */
export function plotOf(result: SoakResult): string {
  const seconds = result.minutes * 60
  const x = (at: number) => LEFT + (at / seconds) * (WIDTH - LEFT - RIGHT)
  const height = TOP + PANELS.length * (PANEL + GAP) + 20
  const shades = result.happenings.map(
    ({ what, from, to }) =>
      `<rect x="${x(from).toFixed(1)}" y="${TOP}" fill="${SHADE}" height="${height - TOP - 40}" ` +
      `width="${Math.max(2, x(to) - x(from)).toFixed(1)}"/>` +
      `<text x="${x(from).toFixed(1)}" y="${TOP - 8}">${what}</text>`,
  )
  const panels = PANELS.map((panel, i) => panelOf(panel, result, x, TOP + i * (PANEL + GAP)))
  const ticks = Array.from({ length: 7 }, (_, i) => (result.minutes / 6) * i).map(
    (minute) =>
      `<text x="${x(minute * 60).toFixed(1)}" y="${height - 8}" text-anchor="middle">${Math.round(minute)} min</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img"
  font-family="system-ui, sans-serif" font-size="12" fill="${INK}"
  aria-label="Answer times, loop delay, memory and answers over the run">
${FOLLOWS_DARK}
<rect width="${WIDTH}" height="${height}" fill="${PAPER}"/>
${[...shades, ...panels, ...ticks].join('\n')}
</svg>
`
}

function panelOf(
  { title, series, isLogarithmic = false }: Panel,
  { samples }: SoakResult,
  x: (at: number) => number,
  top: number,
): string {
  const values = series.flatMap(({ of }) => samples.flatMap((sample) => of(sample) ?? []))
  const scale = isLogarithmic ? (value: number) => Math.log10(Math.max(value, 0.1) / 0.1) : Number
  const most = Math.max(...values, 1)
  const y = (value: number) => top + PANEL - (scale(value) / scale(most)) * (PANEL - 20)
  const marks = isLogarithmic
    ? [0.1, 1, 10, 100, 1_000, 10_000, 100_000].filter((value) => value <= most)
    : [0, most / 2, most]
  const axis = marks.map(
    (value) =>
      `<text x="${LEFT - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">` +
      `${value < 1 ? value : Math.round(value)}</text>` +
      `<path d="M${LEFT} ${y(value).toFixed(1)}H${WIDTH - RIGHT}" stroke="${INK}" stroke-opacity="0.12"/>`,
  )
  const lines = series.map(({ color, of }) => {
    let isDown = false
    const path = samples.map((sample) => {
      const value = of(sample)
      const command = isDown ? 'L' : 'M'
      isDown = value !== null
      return value === null ? '' : `${command}${x(sample.at).toFixed(1)} ${y(value).toFixed(1)}`
    })
    return `<path d="${path.join('')}" fill="none" stroke="${color}" stroke-width="1.5"/>`
  })
  return [
    `<text x="${LEFT}" y="${top + 12}" font-weight="600">${title}</text>`,
    ...axis,
    ...lines,
  ].join('\n')
}
