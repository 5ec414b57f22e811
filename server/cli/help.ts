/** The help: of all commands, of a group, and of one. */
import { COMMON } from './command.js'
import type { Command, Options } from './command.js'

const COMMON_HELP: Record<string, string> = {
  dir: 'state folder, ./var by default (also QUARTERMASTER_DIR)',
  json: 'one line of JSON, the last on standard output',
  'dry-run': 'check everything, say what would happen and change nothing',
}

/** The options of a command, with those that every command has, and what each means. */
export function optionsOf(
  command: Command,
): { name: string; option: Options[string]; help: string }[] {
  const options: Options = {
    ...command.options,
    dir: COMMON.dir,
    json: COMMON.json,
    ...(command.effect === 'writes' && { 'dry-run': COMMON['dry-run'] }),
  }
  const help = { ...command.help, ...COMMON_HELP }
  return Object.entries(options).map(([name, option]) => ({ name, option, help: help[name] ?? '' }))
}

export function helpFor(command: Command): string {
  const flag = (name: string, { type, multiple }: Options[string]) =>
    `--${name}${type === 'string' ? ` ${name.toUpperCase().replaceAll('-', '_')}` : ''}` +
    `${multiple ? ' ...' : ''}`
  const lines = [
    ...(command.positionals ?? []).map((name) => [name, command.help?.[name] ?? '']),
    ...optionsOf(command).map(({ name, option, help }) => [flag(name, option), help]),
  ] as [string, string][]
  const usage = ['quartermaster', command.name, ...(command.positionals ?? []), '[options]']
  return [
    command.summary,
    `Usage: ${usage.join(' ')}`,
    columns(lines),
    `Example:\n  ${command.example}\n`,
  ].join('\n\n')
}

/** All commands, or those of one group. */
export function overview(commands: readonly Command[], group?: string): string {
  const [title, name] =
    group === undefined
      ? [
          "quartermaster: the integration server of a firearm dealer's storefront and back office",
          'quartermaster',
        ]
      : [`Usage: quartermaster ${group} COMMAND`, `quartermaster ${group}`]
  return [
    title,
    columns(commands.map((command) => [command.name, command.summary])),
    group === undefined
      ? '`quartermaster help COMMAND`, or COMMAND --help, shows options and an example. ' +
        '`quartermaster --version` shows the release.\n'
      : `\`${name} COMMAND --help\` shows options and an example.\n`,
  ].join('\n\n')
}

function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length)) + 2
  return lines.map(([name, text]) => `  ${name.padEnd(width)}${text}`.trimEnd()).join('\n')
}
