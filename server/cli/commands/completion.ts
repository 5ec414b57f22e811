/** Scripts by which a shell completes commands and options. */
import { UsageError } from '../command.js'
import type { Command } from '../command.js'
import { optionsOf } from '../help.js'

/** What may follow the words of a command's name: more words, or options. */
interface Place {
  name: string
  next: { word: string; says: string }[]
  options: { word: string; says: string; hasValue: boolean }[]
}

const SHELLS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const

const isShell = (word: string | undefined): word is keyof typeof SHELLS =>
  word !== undefined && Object.hasOwn(SHELLS, word)

/** The command; the list that it is in is asked for when it runs. */
export const completionCommand = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'Print the script that completes commands and options in your shell',
  effect: 'reads',
  positionals: ['<SHELL>'],
  help: {
    '<SHELL>': `${Object.keys(SHELLS).join(', ')}; your shell reads the script when it starts`,
  },
  example: 'quartermaster completion bash',
  run: async ({ args: [shell], out }) => {
    if (!isShell(shell))
      throw new UsageError(
        `there is no script for "${shell}"; name one of ${Object.keys(SHELLS).join(', ')}`,
      )
    const script = SHELLS[shell](placesOf(commands()))
    out.line(script.trimEnd())
    out.result({ shell, script })
  },
})

/** Every beginning of a command's name, the empty one first. */
function placesOf(commands: readonly Command[]): Place[] {
  const names = new Set(['', ...commands.flatMap(({ name }) => beginningsOf(name))])
  return [...names].map((name) => {
    const command = commands.find((candidate) => candidate.name === name)
    const below = commands.filter(
      (candidate) => name === '' || candidate.name.startsWith(`${name} `),
    )
    const words = new Map<string, string>()
    for (const { name: full, summary } of below) {
      const [word = '', ...more] = (name === '' ? full : full.slice(name.length + 1)).split(' ')
      words.set(word, more.length > 0 || words.has(word) ? '' : summary)
    }
    return {
      name,
      next: [
        ...[...words].map(([word, says]) => ({ word, says })),
        ...(name === '' ? [{ word: 'help', says: 'what a command is for, its options' }] : []),
      ],
      options: [
        ...(command ? optionsOf(command) : []).map(({ name: option, option: { type }, help }) => ({
          word: `--${option}`,
          says: help,
          hasValue: type === 'string',
        })),
        { word: '--help', says: 'options and an example', hasValue: false },
        ...(name === ''
          ? [
              { word: '--version', says: 'the release', hasValue: false },
              { word: '--dir', says: 'state folder', hasValue: true },
            ]
          : []),
      ],
    }
  })
}

/** `orders journal verify` -> `orders`, `orders journal`, `orders journal verify`. */
function beginningsOf(name: string): string[] {
  const words = name.split(' ')
  return words.map((_, i) => words.slice(0, i + 1).join(' '))
}

const wordsOf = (some: readonly { word: string }[]) => some.map(({ word }) => word).join(' ')

/** The words so far that are a command's name, in a language that both shells understand. */
const FIND_NAME = (places: readonly Place[]) => `
    case "$word" in
      --dir) i=$((i + 1)) ;;
      -*) ;;
      *)
        case "\${name:+$name }$word" in
          ${places.flatMap(({ name }) => (name === '' ? [] : [`'${name}'`])).join('|')})
            name="\${name:+$name }$word" ;;
          *) break ;;
        esac ;;
    esac`

function bashScript(places: readonly Place[]): string {
  const cases = places.map(
    ({ name, next, options }) =>
      `    '${name}') next='${wordsOf(next)}' options='${wordsOf(options)}'` +
      ` valued=' ${wordsOf(options.filter(({ hasValue }) => hasValue))} ' ;;`,
  )
  return `# bash completion of quartermaster: source <(quartermaster completion bash)
_quartermaster() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" name='' next='' options='' valued='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"${FIND_NAME(places)}
  done
  case "$name" in
${cases.join('\n')}
  esac
  COMPREPLY=()
  # The value of an option, and an argument, may be a file: that is the shell's own to complete.
  case "$valued" in *" \${COMP_WORDS[COMP_CWORD - 1]} "*) return ;; esac
  case "$cur" in
    -*) COMPREPLY=($(compgen -W "$options" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -W "$next" -- "$cur")) ;;
  esac
}
complete -o default -F _quartermaster quartermaster
`
}

function zshScript(places: readonly Place[]): string {
  const described = (some: readonly { word: string; says: string }[]) =>
    some
      .map(({ word, says }) => {
        const text = says === '' ? word : `${word}:${says.replaceAll(':', '\\:')}`
        return `'${text.replaceAll("'", "'\\''")}'`
      })
      .join(' ')
  const cases = places.map(
    ({ name, next, options }) =>
      `    '${name}')\n      next=(${described(next)})\n      options=(${described(options)})\n` +
      `      valued=' ${wordsOf(options.filter(({ hasValue }) => hasValue))} ' ;;`,
  )
  return `#compdef quartermaster
# zsh completion of quartermaster: source <(quartermaster completion zsh)
_quartermaster() {
  local name='' valued='' word i
  local -a next options
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"${FIND_NAME(places)}
  done
  case "$name" in
${cases.join('\n')}
  esac
  case "$valued" in *" \${words[CURRENT - 1]} "*) _files; return ;; esac
  case "\${words[CURRENT]}" in
    -*) _describe -o option options ;;
    *) if ((\${#next})); then _describe command next; else _files; fi ;;
  esac
}
compdef _quartermaster quartermaster
`
}

/** For fish, which asks each line whether it holds. */
function fishScript(places: readonly Place[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const at = (name: string) =>
    `complete -c quartermaster -n ${quoted(`__quartermaster_at ${quoted(name)}`)}`
  const lines = places.flatMap(({ name, next, options }) => [
    ...next.map(({ word, says }) => `${at(name)} -f -a ${quoted(word)} -d ${quoted(says)}`),
    ...options.map(
      ({ word, says, hasValue }) =>
        `${at(name)} -l ${word.slice(2)}${hasValue ? ' -r' : ''} -d ${quoted(says)}`,
    ),
  ])
  const names = places.flatMap(({ name }) => (name === '' ? [] : [quoted(name)]))
  return `# fish completion of quartermaster: quartermaster completion fish | source
function __quartermaster_at
  set -l name ''
  set -l isValue 0
  for word in (commandline -opc)[2..]
    if test $isValue = 1
      set isValue 0
      continue
    end
    switch $word
      case --dir
        set isValue 1
      case '-*'
      case '*'
        set -l longer (string trim "$name $word")
        contains -- $longer ${names.join(' ')}; or break
        set name $longer
    end
  end
  test "$name" = "$argv"
end
${lines.join('\n')}
`
}
