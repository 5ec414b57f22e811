/** Words to a command and its options. */
import { parseArgs } from 'node:util'
import { codeOf } from '../../lib/core/errors.js'
import { nearest } from '../../lib/core/text.js'
import { COMMON, UsageError } from './command.js'
import type { Command, Invocation } from './command.js'
import { helpFor, optionsOf, overview } from './help.js'

export type Parsed =
  | { help: string }
  | { version: true }
  | { command: Command; values: Invocation['values']; args: string[] }

const MOST_WORDS = 3

/**
 * Finds the command of the words, and reads the rest by its options; or the help that was asked
 * for, in lines of at most `width` characters.
 */
export function parseCommand(
  commands: readonly Command[],
  argv: readonly string[],
  width = Infinity,
): Parsed {
  const rest = argv.slice(leadingOptions(argv))
  if (rest[0] === 'help') return parseCommand(commands, [...rest.slice(1), '--help'], width)
  const options = rest.findIndex((word) => word.startsWith('-'))
  const words = rest.slice(0, options < 0 ? MOST_WORDS : Math.min(options, MOST_WORDS))
  if (words.length === 0 && argv.includes('--version')) return { version: true }
  // The longest name that the words begin with.
  const command = words
    .map((_, i) => words.slice(0, words.length - i).join(' '))
    .map((name) => commands.find((candidate) => candidate.name === name))
    .find(Boolean)
  if (!command)
    return (
      helpWithoutCommand(commands, words, argv, width) ??
      refuseWords(commands, words.slice(0, 2), rest)
    )
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { ...COMMON, ...command.options },
      allowPositionals: true,
      strict: true,
    })
    if (values['help']) return { help: helpFor(command, width) }
    if (values['dry-run'] && command.effect === 'serves')
      throw new UsageError(`${command.name} has no --dry-run: it runs until it is stopped`)
    const args = positionals.slice(command.name.split(' ').length)
    checkPositionals(command, args)
    return { command, values, args }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `${optionFault(command, error)}. See \`quartermaster ${command.name} --help\`.`,
    )
  }
}

/** What is wrong with an option, shorter than Node says it. */
function optionFault(command: Command, error: unknown): string {
  const { message } = error as Error
  const [, option = ''] = /'((?:-\w, )?--?[^' ]+)/.exec(message) ?? []
  const name = option.replace(/^-\w, /, '')
  switch (codeOf(error)) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION': {
      const known = optionsOf(command).map((one) => `--${one.name}`)
      const close = known.find((one) => one.startsWith(`-${name}`)) ?? nearest(name, known)
      return `${command.name} has no option ${name}${close ? `; did you mean ${close}?` : ''}`
    }
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      return message.includes('ambiguous')
        ? `${name} is not given a value; one that begins with - is written ${name}=-VALUE`
        : message.includes('does not take')
          ? `${name} takes no value`
          : `${name} needs a value`
    default:
      return message.replaceAll(/\.?\s*\n/g, '. ')
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
    else if (/^(--(dir=|json$|dry-run$|help$|version$)|-h$)/.test(word)) at++
    else return at
  }
}

function helpWithoutCommand(
  commands: readonly Command[],
  words: readonly string[],
  argv: readonly string[],
  width: number,
): Parsed | null {
  if (!argv.includes('--help') && !argv.includes('-h')) return null
  if (words.length === 0) return { help: overview(commands, { width }) }
  const group = commands.filter(({ name }) => name.startsWith(`${words.join(' ')} `))
  return group.length > 0 ? { help: overview(group, { group: words.join(' '), width }) } : null
}

function groupOf(commands: readonly Command[], words: readonly string[]): Command[] {
  return commands.filter(({ name }) => name.startsWith(`${words[0]} `))
}

function refuseWords(
  commands: readonly Command[],
  words: readonly string[],
  rest: readonly string[],
): never {
  const [first] = words
  if (first === undefined)
    throw new UsageError(
      rest.length === 0
        ? 'the command is missing. See --help.'
        : /^-v$/i.test(rest[0]!)
          ? `there is no option "${rest[0]}"; did you mean --version?`
          : `"${rest[0]}" belongs after a command. See --help.`,
    )
  const group = groupOf(commands, words)
  if (group.length > 0)
    throw new UsageError(`which of these: ${group.map(({ name }) => name).join(', ')}?`)
  const names = commands.map(({ name }) => name)
  const close =
    first === 'version' ? '--version' : (nearest(words.join(' '), names) ?? nearest(first, names))
  throw new UsageError(
    `there is no command "${words.join(' ')}"${close ? `; did you mean "${close}"?` : '.'} ` +
      'See --help.',
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
