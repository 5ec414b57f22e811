/** The launcher: arguments to command. */
import { isApiError } from '../lib/core/errors.js'
import { UsageError, helpFor, makeOutput, overview, parseCommand } from './command.js'
import type { Command } from './command.js'
import { accountCommands } from './commands/accounts.js'
import { demoCommand } from './commands/demo.js'
import { distributorCommands } from './commands/distributors.js'
import { feedCommands } from './commands/feeds.js'
import { initCommand } from './commands/init.js'
import { serveCommand } from './commands/serve.js'
import { stateDir } from './env.js'

const commands: Command[] = [serveCommand, demoCommand, initCommand, ...accountCommands, ...distributorCommands, ...feedCommands]

/** Runs one command and returns its exit code: 0 done, 1 refused or failed, 2 misused. */
async function main(argv: readonly string[]): Promise<number> {
  if (argv.length === 0 || (argv[0]!.startsWith('-') && argv.includes('--help'))) {
    process.stdout.write(overview(commands))
    return argv.length === 0 ? 2 : 0
  }
  try {
    const { command, values, args } = parseCommand(commands, argv)
    if (values['help']) {
      process.stdout.write(helpFor(command))
      return 0
    }
    const json = values['json'] === true
    const dir = stateDir(typeof values['dir'] === 'string' ? values['dir'] : undefined)
    return await command.run({ values, args, dir, json, dryRun: values['dry-run'] === true, out: makeOutput(json) }) ?? 0
  } catch (error) {
    process.stderr.write(`${describe(error)}\n`)
    return error instanceof UsageError ? 2 : 1
  }
}

function describe(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (isApiError(error)) return `${error.code}: ${error.message}`
  return error instanceof Error ? (process.env['QUARTERMASTER_LOG'] === 'debug' ? error.stack ?? error.message : error.message) : String(error)
}

process.exitCode = await main(process.argv.slice(2))
