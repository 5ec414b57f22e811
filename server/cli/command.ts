/** What a command of the command line is, and what its options say. */
import type { ParseArgsConfig } from 'node:util'
import type { Output } from './output.js'

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
  /** Asks the person at the terminal; null where there is none. */
  ask: ((question: string) => Promise<string>) | null
}

export interface Command {
  /** One to three words: `keys create`, `orders journal verify`. */
  name: string
  summary: string
  /** Ids of the operations that it carries out, whose words its own are (`carriesOut`). */
  operations?: readonly string[]
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

/** What a command says at the end of a dry run. */
export const DRY_RUN = 'This was a dry run: nothing was changed.'

/** Options of every command. */
export const COMMON = {
  dir: { type: 'string' },
  json: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const satisfies Options

/** A mistake of the person at the keyboard: one line, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * A positional argument that the command names as `<NEEDED>`: a call without it was refused before
 * the command ran (`parseCommand`).
 */
export function argument(args: Invocation['args'], place: number): string {
  const value = args[place]
  if (value === undefined) throw new Error(`the command does not name argument ${place + 1}`)
  return value
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
