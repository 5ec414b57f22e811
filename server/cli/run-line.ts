/**
 * Runs a line of the command line: words to command. Where it writes is given, so that one process
 * can run many of them.
 */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { MAX_FAULTS, isApiError } from '../../lib/core/errors.js'
import type { ApiError, Fault } from '../../lib/core/errors.js'
import { UsageError, optional } from './command.js'
import type { Command } from './command.js'
import { demoCommand } from './commands/demo.js'
import { serveCommand } from './commands/serve.js'
import { ownVersion } from './version.js'
import { isDebugging, logLevel, stateDir } from '../env.js'
import { machineFault } from './machine-fault.js'
import { makeOutput } from './output.js'
import { overview } from './help.js'
import { parseCommand } from './parse.js'
import type { Stream } from './output.js'
import { faultLines, isFault } from './faults.js'

/** Where a line writes; `process` is one. */
export interface Streams {
  stdout: Stream
  stderr: Stream
  /** What a person types; a question is asked on a terminal alone. */
  stdin?: Readable & { isTTY?: boolean }
}

/**
 * Runs one command and returns its exit code: 0 done, 1 refused or failed, 2 misused, 70 the disk
 * failed or is full.
 */
export async function runLine(
  argv: readonly string[],
  { stdout, stderr, stdin }: Streams,
): Promise<number> {
  // Looked for in the words themselves: also a line that cannot be parsed is answered in JSON.
  const json = argv.includes('--json')
  const out = makeOutput(json, stdout, stderr)
  // What is piped on is one line each, whoever reads it.
  const width = out.isTerminal ? out.width : Infinity
  let dir = stateDir(undefined)
  try {
    const commands = await commandsFor(argv)
    if (argv.length === 0) {
      stdout.write(overview(commands, { width }))
      return 2
    }
    const parsed = parseCommand(commands, argv, width)
    if ('help' in parsed) {
      stdout.write(parsed.help)
      return 0
    }
    if ('version' in parsed) {
      const version = ownVersion()
      out.line(version)
      out.result({ version })
      return 0
    }
    const { command, values, args } = parsed
    dir = stateDir(optional(values, 'dir'))
    // A level that there is not is refused by every command, and not by those alone that log.
    logLevel()
    return (
      (await command.run({
        values,
        args,
        dir,
        json,
        dryRun: values['dry-run'] === true,
        out,
        ask: out.isTerminal && stdin?.isTTY ? asking(stdin, stderr) : null,
      })) ?? 0
    )
  } catch (error) {
    const fault = isApiError(error) || error instanceof UsageError ? null : machineFault(error, dir)
    out.result({
      error: {
        code: codeOf(error),
        message: fault?.line ?? (error instanceof Error ? error.message : String(error)),
        ...(isApiError(error) && { details: error.details }),
      },
    })
    stderr.write(`${isDebugging() ? stackOf(error) : (fault?.line ?? describe(error))}\n`)
    return error instanceof UsageError ? 2 : (fault?.status ?? 1)
  }
}

/**
 * What serves, or all: what those stand on would be a fifth of a server's start. The version needs
 * none.
 */
async function commandsFor(argv: readonly string[]): Promise<readonly Command[]> {
  const serving = [serveCommand, demoCommand]
  if (serving.some(({ name }) => name === argv[0]) && !argv.includes('--help')) return serving
  const asksVersion = argv.includes('--version')
  if (asksVersion && argv.every((word) => word === '--version' || word === '--json')) return serving
  return (await import('./commands/index.js')).commands
}

/** Questions go where progress goes, so that what is piped on stays clean. */
const asking = (stdin: Readable, stderr: Stream) => async (question: string) => {
  stderr.write(question)
  const lines = createInterface({ input: stdin })
  try {
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
  }
}

function codeOf(error: unknown): string {
  if (error instanceof UsageError) return 'usage'
  return isApiError(error) ? error.code : 'failed'
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return error.message
  // Its message tells of the first fault only.
  if (isApiError(error) && error.code === 'schema_validation_failed')
    return [
      `${error.code}: the configuration does not fit its schema`,
      ...faultLines(error.details as Fault[]),
    ].join('\n')
  if (isApiError(error)) return describeRefusal(error)
  return error instanceof Error ? error.message : String(error)
}

/** Where it was thrown, for who looks for the fault in the program: an error of nobody's making. */
function stackOf(error: unknown): string {
  const isOurs = error instanceof UsageError || isApiError(error)
  return !isOurs && error instanceof Error ? (error.stack ?? error.message) : describe(error)
}

/**
 * With all faults a line each, where there are several: the message tells of the first, and of how
 * many more.
 */
function describeRefusal({ code, message, details }: ApiError): string {
  if (!Array.isArray(details) || details.length < 2 || !details.every(isFault))
    return `${code}: ${message}`
  const count = details.length < MAX_FAULTS ? `${details.length}` : `the first ${MAX_FAULTS}`
  return [
    `${code}: ${message.endsWith('see details)') ? `${count} faults` : message}`,
    ...faultLines(details),
  ].join('\n')
}
