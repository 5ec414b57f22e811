/** What a command of the command line is, and the little that all of them share. */
import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { nearest } from '../lib/core/text.js'

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
  /** One or two words: `keys create`. */
  name: string
  summary: string
  /** Names of the positional arguments, `<DISTID>` needed, `[UPC]` not. */
  positionals?: string[]
  options?: Options
  /** What each option means, for `--help`. */
  help?: Record<string, string>
  example: string
  /** The exit code; 0 when nothing is returned. */
  run(invocation: Invocation): Promise<number | void>
}

/** A mistake of the person at the keyboard: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

const COMMON: Options = { dir: { type: 'string' }, json: { type: 'boolean' }, 'dry-run': { type: 'boolean' }, help: { type: 'boolean' } }

const COMMON_HELP: Record<string, string> = {
  dir: 'state folder, ./var by default (also QUARTERMASTER_DIR)',
  json: 'one line of JSON, the last on standard output',
  'dry-run': 'say what would happen and change nothing',
}

/** Finds the command of the words, and reads the rest by its options. */
export function parseCommand(commands: readonly Command[], argv: readonly string[]): { command: Command; values: Invocation['values']; args: string[] } {
  const options = argv.findIndex((word) => word.startsWith('-'))
  const words = argv.slice(0, options < 0 ? 2 : Math.min(options, 2))
  const command = commands.find(({ name }) => name === words.join(' ')) ?? commands.find(({ name }) => name === words[0])
  if (!command) {
    const names = commands.map(({ name }) => name)
    const group = names.filter((name) => name.startsWith(`${words[0]} `))
    const close = nearest(words.join(' '), names) ?? nearest(words[0] ?? '', names)
    throw new UsageError(group.length > 0 ? `which of these: ${group.join(', ')}?` : `there is no command "${words.join(' ')}"${close ? `; did you mean "${close}"?` : ''} See --help.`)
  }
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options: { ...COMMON, ...command.options }, allowPositionals: true, strict: true })
    const args = positionals.slice(command.name.split(' ').length)
    if (!values['help']) checkPositionals(command, args)
    return { command, values, args }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}. See \`quartermaster ${command.name} --help\`.`)
  }
}

function checkPositionals(command: Command, args: readonly string[]): void {
  const names = command.positionals ?? []
  const missing = names.find((name, i) => name.startsWith('<') && args[i] === undefined)
  if (missing) throw new UsageError(`${missing} is missing. For example: ${command.example}`)
  if (args.length > names.length) throw new UsageError(`"${args[names.length]}" is one argument too many. For example: ${command.example}`)
}

export function helpFor(command: Command): string {
  const help = { ...command.help, ...COMMON_HELP }
  const options = { ...command.options, dir: COMMON['dir']!, json: COMMON['json']!, 'dry-run': COMMON['dry-run']! }
  const lines = Object.entries(options).map(([name, { type, multiple }]) => {
    const flag = `--${name}${type === 'string' ? ` ${name.toUpperCase().replaceAll('-', '_')}` : ''}${multiple ? ' ...' : ''}`
    return `  ${flag.padEnd(28)}${help[name] ?? ''}`
  })
  return `${command.summary}\n\nUsage: quartermaster ${[command.name, ...command.positionals ?? []].join(' ')} [options]\n\n${lines.join('\n')}\n\nExample:\n  ${command.example}\n`
}

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2
  return `quartermaster: the integration server of a firearm dealer's storefront and back office\n\n${commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`).join('\n')}\n\n\`quartermaster COMMAND --help\` shows options and an example.\n`
}

/** Standard output for people, or one line of JSON at the end. */
export interface Output {
  /** A line for people; nothing under --json. */
  line(text: string): void
  /** Rows in columns for people; nothing under --json. */
  table(rows: readonly Record<string, unknown>[]): void
  /** The result for programs; nothing without --json. */
  result(value: unknown): void
  /** A bar on a terminal, for long work; nothing in a pipe. */
  progress(label: string): (done: number, total: number, rows: number) => void
}

export function makeOutput(json: boolean, stdout: NodeJS.WriteStream = process.stdout, stderr: NodeJS.WriteStream = process.stderr): Output {
  return {
    line: (text) => void (json || stdout.write(`${text}\n`)),
    table: (rows) => void (json || stdout.write(formatTable(rows))),
    result: (value) => void (json && stdout.write(`${JSON.stringify(value)}\n`)),
    progress: (label) => stderr.isTTY && !json ? progressBar(label, stderr) : () => {},
  }
}

function formatTable(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows
  if (!first) return '(none)\n'
  const text = (value: unknown) => value === null || value === undefined ? '-' : Array.isArray(value) ? value.join(' ') || '-' : String(value)
  const columns = Object.keys(first)
  const widths = columns.map((column) => Math.max(column.length, ...rows.map((row) => text(row[column]).length)))
  const line = (cells: string[]) => cells.map((cell, i) => cell.padEnd(widths[i]!)).join('  ').trimEnd()
  return [line(columns), ...rows.map((row) => line(columns.map((column) => text(row[column]))))].join('\n') + '\n'
}

const BAR = 30

function progressBar(label: string, stream: NodeJS.WriteStream): (done: number, total: number, rows: number) => void {
  return (done, total, rows) => {
    const share = total > 0 ? Math.min(1, done / total) : 1
    const filled = Math.round(share * BAR)
    stream.write(`\r${label} [${'#'.repeat(filled)}${' '.repeat(BAR - filled)}] ${String(Math.floor(share * 100)).padStart(3)} % ${rows.toLocaleString('en-US')} rows${share === 1 ? '\n' : ''}`)
  }
}

/** An option's text, or a usage error. */
export function required(values: Invocation['values'], name: string, example: string): string {
  const value = values[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing. For example: ${example}`)
  return value
}

export function optional(values: Invocation['values'], name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function list(values: Invocation['values'], name: string): string[] {
  const value = values[name]
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
}
