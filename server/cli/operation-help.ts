/**
 * What a command says of itself where it carries out operations: the operations' own words. What
 * the command line alone has, it adds.
 */
import * as z from 'zod'
import { unwrap } from '../../lib/core/endpoint/endpoint.js'
import { present } from '../../lib/core/present.js'
import type { Command } from './command.js'

/** What of an operation's definition is needed: those of one domain, so that no other is loaded. */
interface Described {
  readonly id: string
  readonly summary: string
  readonly parts?: Readonly<Record<string, string>>
  readonly input: z.ZodObject
}

interface Carrying<Id extends string> extends Omit<Command, 'summary' | 'operations'> {
  /** The part of the operation that it is. */
  part?: string
  /** What follows the operation's summary. */
  note?: string
  /** Options and arguments that make it carry out another operation. */
  acts?: Readonly<Record<string, Id>>
  /**
   * Members that options and arguments set, where their names differ; one inside of another is
   * `shipping.zip`. A `--fee-longgun` sets `fee_longgun` and a `<DISTID>` `distid` by themselves.
   */
  members?: Readonly<Record<string, string>>
  /** What follows the description of a member: a default of the command line's own. */
  adds?: Readonly<Record<string, string>>
}

/**
 * A command that carries out the operation of an id. Its summary is the operation's, and the help
 * of what sets a member is the member's; `help` has the rest.
 */
export function carriesOut<const O extends readonly Described[]>(
  operations: O,
  id: O[number]['id'],
  { part, note, acts = {}, members = {}, adds = {}, help = {}, ...own }: Carrying<O[number]['id']>,
): Command {
  const named = (one: string) =>
    present<Described>(
      operations.find((known) => known.id === one),
      one,
    )
  const main = named(id)
  const others = Object.values(acts).map(named)
  const helpOf = (name: string, isList: boolean): [string, string][] => {
    const act = acts[name] === undefined ? undefined : named(acts[name])
    const path = members[name] ?? memberName(name)
    const member = [act, main].map((one) => one && describedMember(one.input, path)).find(Boolean)
    const words = [act?.summary, member].filter((text) => text !== undefined)
    if (words.length > 0 && help[name] !== undefined)
      throw new Error(`${own.name} has words of its own for ${name}, which sets ${path}`)
    const told = [
      ...(words.length > 0 ? words.map(inside) : [help[name]]),
      adds[name],
      ...(isList ? ['may be repeated'] : []),
    ].filter(Boolean)
    return told.length > 0 ? [[name, told.join('; ')]] : []
  }
  return {
    ...own,
    operations: [id, ...others.map((one) => one.id)],
    summary: [
      part === undefined ? main.summary : present(main.parts?.[part], `${id} ${part}`),
      ...others.map(({ summary }) => `or ${inside(summary)}`),
      ...(note === undefined ? [] : [note]),
    ].join('; '),
    help: Object.fromEntries([
      ...(own.positionals ?? []).flatMap((name) => helpOf(name, false)),
      ...Object.entries(own.options ?? {}).flatMap(([name, { multiple }]) =>
        helpOf(name, multiple === true),
      ),
    ]),
  }
}

/** `--fee-longgun` -> `fee_longgun`, `<DISTID>` -> `distid`. */
const memberName = (name: string) =>
  name
    .replaceAll(/[<[\]>]/g, '')
    .toLowerCase()
    .replaceAll('-', '_')

/** What is said of a member, or of one inside of it; undefined where nothing is. */
function describedMember(shape: z.ZodType, path: string): string | undefined {
  let at: z.ZodType | undefined = shape
  for (const name of path.split('.')) {
    at = unwrap(at)
    if (at instanceof z.ZodArray) at = unwrap(at.element as z.ZodType)
    at = at instanceof z.ZodObject ? (at.shape[name] as z.ZodType | undefined) : undefined
  }
  return at && (at.description ?? unwrap(at)?.description)
}

/** As it stands within a sentence; an abbreviation keeps its capitals. */
const inside = (text: string) => text.replace(/^[A-Z](?![A-Z\d])/, (letter) => letter.toLowerCase())
