/** What a command of the command line is, and the little that all of them share. */
import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { nearest } from '../../lib/core/text.js'

export type Options = NonNullable<ParseArgsConfig['options']>

export interface Invocation {
  /** Values of the options; a flag is true, a repeated option a list. */
  values: Record<string, string | boolean | (string | boolean)[] | undefined>
  /** What follows the command's name. */
  args: string[]
  dir: string
  json: boolean
  dryRun: boolean
  out: Output
}

export interface Command {
  /** One to three words: `keys create`, `orders journal verify`. */
  name: string
  summary: string
  /**
   * What `writes` has a --dry-run; what `reads` is one; what `serves` refuses it, since it ends
   * with nothing to show.
   */
  effect: 'reads' | 'writes' | 'serves'
  /** Names of the positional arguments, `<DISTID>` needed, `[UPC]` not. */
  positionals?: string[]
  options?: Options
  /** What each option and positional argument means, for `--help`. */
  help?: Record<string, string>
  example: string
  /** The exit code; 0 when nothing is returned. */
  run(invocation: Invocation): Promise<number | void>
}

/** A mistake of the person at the keyboard: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const COMMON: Options = {
  dir: { type: 'string' },
  json: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean' },
}

const COMMON_HELP: Record<string, string> = {
  dir: 'state folder, ./var by default (also QUARTERMASTER_DIR)',
  json: 'one line of JSON, the last on standard output',
  'dry-run': 'check everything, say what would happen and change nothing',
}

export type Parsed =
  | { help: string }
  | { command: Command; values: Invocation['values']; args: string[] }

const MOST_WORDS = 3

/**
 * Finds the command of the words, and reads the rest by its options; or the help that was asked
 * for.
 */
export function parseCommand(commands: readonly Command[], argv: readonly string[]): Parsed {
  const rest = argv.slice(leadingOptions(argv))
  const options = rest.findIndex((word) => word.startsWith('-'))
  const words = rest.slice(0, options < 0 ? MOST_WORDS : Math.min(options, MOST_WORDS))
  // The longest name that the words begin with.
  const command = words
    .map((_, i) => words.slice(0, words.length - i).join(' '))
    .map((name) => commands.find((candidate) => candidate.name === name))
    .find(Boolean)
  if (!command)
    return (
      helpWithoutCommand(commands, words, argv) ?? refuseWords(commands, words.slice(0, 2), rest)
    )
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...COMMON, ...command.options },
      allowPositionals: true,
      strict: true,
    })
    if (values['help']) return { help: helpFor(command) }
    if (values['dry-run'] && command.effect === 'serves')
      throw new UsageError(`${command.name} has no --dry-run: it runs until it is stopped`)
    const args = positionals.slice(command.name.split(' ').length)
    checkPositionals(command, args)
    return { command, values, args }
  } catch (error) {
    if (error instanceof UsageError) throw error
    // Node spreads some of its messages over several lines.
    const message = (error instanceof Error ? error.message : String(error)).replaceAll(
      /\.?\s*\n/g,
      '. ',
    )
    throw new UsageError(`${message}. See \`quartermaster ${command.name} --help\`.`)
  }
}

/**
 * How many words before the command belong to options that every command has: an alias puts `--dir
 * X` there.
 */
function leadingOptions(argv: readonly string[]): number {
  let at = 0
  for (;;) {
    const word = argv[at] ?? ''
    if (word === '--dir') at += 2
    else if (/^--(dir=|json$|dry-run$|help$)/.test(word)) at++
    else return at
  }
}

function helpWithoutCommand(
  commands: readonly Command[],
  words: readonly string[],
  argv: readonly string[],
): Parsed | null {
  if (!argv.includes('--help')) return null
  if (words.length === 0) return { help: overview(commands) }
  const group = commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `))
  return group.length > 0 ? { help: overview(group, words.join(' ')) } : null
}

function groupOf(commands: readonly Command[], words: readonly string[]): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${words[0]} `))
}

function refuseWords(
  commands: readonly Command[],
  words: readonly string[],
  rest: readonly string[],
): never {
  if (words.length === 0)
    throw new UsageError(
      rest.length > 0
        ? `"${rest[0]}" belongs after a command. See --help.`
        : 'the command is missing. See --help.',
    )
  const group = groupOf(commands, words)
  if (group.length > 0)
    throw new UsageError(`which of these: ${group.map(({ name }) => name).join(', ')}?`)
  const names = commands.map(({ name }) => name)
  const close = nearest(words.join(' '), names) ?? nearest(words[0]!, names)
  throw new UsageError(
    `there is no command "${words.join(' ')}"${close ? `; did you mean "${close}"?` : ''} See --help.`,
  )
}

function checkPositionals(command: Command, args: readonly string[]): void {
  const names = command.positionals ?? []
  const missing = names.find((name, i) => name.startsWith('<') && args[i] === undefined)
  if (missing) throw new UsageError(`${missing} is missing. For example: ${command.example}`)
  if (args.length > names.length)
    throw new UsageError(
      `"${args[names.length]}" is one argument too many. For example: ${command.example}`,
    )
}

function helpFor(command: Command): string {
  const help = { ...command.help, ...COMMON_HELP }
  const options = {
    ...command.options,
    dir: COMMON['dir']!,
    json: COMMON['json']!,
    ...(command.effect === 'writes' && { 'dry-run': COMMON['dry-run']! }),
  }
  const flag = (name: string, { type, multiple }: Options[string]) =>
    `--${name}${type === 'string' ? ` ${name.toUpperCase().replaceAll('-', '_')}` : ''}${multiple ? ' ...' : ''}`
  const lines = [
    ...(command.positionals ?? []).map((name) => [name, help[name] ?? '']),
    ...Object.entries(options).map(([name, option]) => [flag(name, option), help[name] ?? '']),
  ] as [string, string][]
  return `${command.summary}\n\nUsage: quartermaster ${[command.name, ...(command.positionals ?? [])].join(' ')} [options]\n\n${columns(lines)}\n\nExample:\n  ${command.example}\n`
}

/** All commands, or those of one group. */
export function overview(commands: readonly Command[], group?: string): string {
  const title =
    group === undefined
      ? "quartermaster: the integration server of a firearm dealer's storefront and back office"
      : `Usage: quartermaster ${group} COMMAND`
  return `${title}\n\n${columns(commands.map(({ name, summary }) => [name, summary]))}\n\n\`quartermaster ${group === undefined ? '' : `${group} `}COMMAND --help\` shows options and an example.\n`
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length)) + 2
  return lines.map(([name, text]) => `  ${name.padEnd(width)}${text}`.trimEnd()).join('\n')
}

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
            stderr.write(drawBar(label, done, total, `${count.toLocaleString('en-US')} ${unit}`))
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
  const columns = Object.keys(first)
  const widths = columns.map((column) =>
    Math.max(column.length, ...rows.map((row) => text(row[column]).length)),
  )
  const line = (cells: string[]) =>
    cells
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return (
    [line(columns), ...rows.map((row) => line(columns.map((column) => text(row[column]))))].join(
      '\n',
    ) + '\n'
  )
}

const BAR = 30

function drawBar(label: string, done: number, total: number, count: string): string {
  const share = total > 0 ? Math.min(1, done / total) : 1
  const filled = Math.round(share * BAR)
  return `\r${label} [${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % ${count}`
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
  const lines: string[] = []
  let line = /^\s*/.exec(text)![0]
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

/** An option's text, or a usage error. */
export function required(values: Invocation['values'], name: string, example: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '')
    throw new UsageError(`--${name} is missing. For example: ${example}`)
  return value
}

/**
 * An option's text. An empty one comes from a variable that is not set, and would be taken as 0, as
 * here or as everywhere.
 */
export function optional(values: Invocation['values'], name: string): string | undefined {
  const value = values[name]
  if (value === '') throw new UsageError(`--${name} must not be empty`)
  return typeof value === 'string' ? value : undefined
}

export function list(values: Invocation['values'], name: string): string[] {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
}
