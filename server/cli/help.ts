/** The help: of all commands, of a group, and of one. */
import { DryRun } from '../../lib/core/endpoint/operation-shapes.js'
import { COMMON } from './command.js'
import type { Command, Options } from './command.js'
import { wrap } from './output.js'

const COMMON_HELP: Record<string, string> = {
  dir: 'state folder, ./var by default (also QUARTERMASTER_DIR)',
  json: 'one line of JSON, the last on standard output',
  'dry-run': DryRun.description ?? '',
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

/** With lines of at most `width` characters. */
export function helpFor(command: Command, width = Infinity): string {
  const flag = (name: string, { type, multiple }: Options[string]) =>
    `--${name}${type === 'string' ? ` ${name.toUpperCase().replaceAll('-', '_')}` : ''}` +
    `${multiple ? ' ...' : ''}`
  const lines = [
    ...(command.positionals ?? []).map((name) => [name, command.help?.[name] ?? '']),
    ...optionsOf(command).map(({ name, option, help }) => [flag(name, option), help]),
  ] as [string, string][]
  const usage = ['quartermaster', command.name, ...(command.positionals ?? []), '[options]']
  return [
    wrap(command.summary, width),
    `Usage: ${usage.join(' ')}`,
    columns(lines, width),
    `Example:\n  ${command.example}\n`,
  ].join('\n\n')
}

/** All commands, or those of one group, with lines of at most `width` characters. */
export function overview(
  commands: readonly Command[],
  { group, width = Infinity }: { group?: string; width?: number } = {},
): string {
  const [title, name] =
    group === undefined
      ? [
          "quartermaster: the integration server of a firearm dealer's storefront and back office",
          'quartermaster',
        ]
      : [`Usage: quartermaster ${group} COMMAND`, `quartermaster ${group}`]
  return [
    wrap(title, width),
    columns(
      commands.map((command) => [command.name, command.summary]),
      width,
    ),
    `${wrap(
      group === undefined
        ? '`quartermaster help COMMAND`, or COMMAND --help, shows options and an example. ' +
            '`quartermaster --version` shows the release.'
        : `\`${name} COMMAND --help\` shows options and an example.`,
      width,
    )}\n`,
  ].join('\n\n')
}

/** A text has at least so many characters of a line, whatever the names before it take. */
const NARROWEST = 24

function columns(lines: readonly (readonly [string, string])[], width: number): string {
  const indent = Math.max(...lines.map(([name]) => name.length)) + 4
  const room = Math.max(NARROWEST, width - indent)
  return lines
    .map(([name, text]) => {
      const [first = '', ...others] = wrap(text, room).split('\n')
      return [
        `  ${name.padEnd(indent - 2)}${first}`.trimEnd(),
        ...others.map((line) => ' '.repeat(indent) + line),
      ].join('\n')
    })
    .join('\n')
}
