/** What a command writes: lines for people, or one line of JSON. */
import { figure } from '../../lib/core/figures.js'

/** Standard output for people, or one line of JSON at the end. */
export interface Output {
  /** Standard output is a terminal, and people read it. */
  readonly isTerminal: boolean
  /** Characters that a line may have: the terminal's, 100 elsewhere. */
  readonly width: number
  /** A line for people; nothing under --json. */
  line(text: string): void
  /** Rows in columns for people; nothing under --json. */
  table(rows: readonly Record<string, unknown>[]): void
  /** The result for programs; nothing without --json. */
  result(value: unknown): void
  /** A bar on a terminal, for long work; nothing in a pipe. */
  progress(label: string, unit?: string): (done: number, total: number, count: number) => void
}

/** What is written to: `process.stdout`, or whoever collects it. */
export interface Stream {
  isTTY?: boolean
  /** Characters in a line of the terminal. */
  columns?: number
  write(text: string): unknown
}

export function makeOutput(json: boolean, stdout: Stream, stderr: Stream): Output {
  let bar = false
  const write = (text: string) => {
    // A bar that was drawn keeps its line.
    if (bar) stderr.write('\n')
    bar = false
    if (text !== '') stdout.write(text)
  }
  return {
    isTerminal: stdout.isTTY === true && !json,
    width: (stdout.isTTY && stdout.columns) || 100,
    line: (text) => write(json ? '' : `${text}\n`),
    table: (rows) => write(json ? '' : formatTable(rows)),
    result: (value) => write(json ? `${JSON.stringify(value)}\n` : ''),
    progress: (label, unit = 'rows') =>
      stderr.isTTY && !json
        ? (done, total, count) => {
            bar = true
            stderr.write(drawBar(label, done, total, `${figure(count)} ${unit}`))
          }
        : () => {},
  }
}

function formatTable(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows
  if (!first) return '(none)\n'
  const text = (value: unknown) =>
    value === null || value === undefined
      ? '-'
      : Array.isArray(value)
        ? value.join(' ') || '-'
        : String(value)
  const columns = Object.keys(first).map((name) => ({
    name,
    width: Math.max(name.length, ...rows.map((row) => text(row[name]).length)),
  }))
  const line = (cellOf: (name: string) => string) =>
    columns
      .map(({ name, width }) => cellOf(name).padEnd(width))
      .join('  ')
      .trimEnd()
  const lines = [line((name) => name), ...rows.map((row) => line((name) => text(row[name])))]
  return `${lines.join('\n')}\n`
}

const BAR = 30

function drawBar(label: string, done: number, total: number, count: string): string {
  const share = total > 0 ? Math.min(1, done / total) : 1
  const filled = Math.round(share * BAR)
  return (
    `\r${label} [${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ` +
    `${String(Math.floor(share * 100)).padStart(3)} % ${count}`
  )
}

/** As much of a text as fits, on one line. */
export function cut(text: string, width: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
}

/**
 * A text over as many lines as it takes; those after the first are indented, and a word that fits
 * none is broken.
 */
export function wrap(text: string, width: number, indent = ''): string {
  if (text.length <= width) return text
  const lines: string[] = []
  let line = text.slice(0, text.search(/\S|$/))
  const room = Math.max(1, width - indent.length)
  const words = text
    .trim()
    .split(/\s+/)
    .flatMap((word) => word.match(new RegExp(`.{1,${room}}`, 'gu')) ?? [])
  for (const word of words) {
    if (line.trim() !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = indent + word
    } else line += (line.trim() === '' ? '' : ' ') + word
  }
  return [...lines, line].join('\n')
}
