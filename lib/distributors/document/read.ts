/** Reads a document, and tells every fault of it at once, in words. */
import type { z } from 'zod'
import { Document } from './schema.js'
import type { DistributorDocument, Orders, Template } from './schema.js'
import { LINE_NAMES, namesIn, ORDER_NAMES } from './template.js'

/** What is wrong with a document; each with where. */
export interface DocumentFault {
  /** Such as `feeds.0.map.price`. */
  readonly at: string
  readonly message: string
}

export type DocumentReading =
  | { readonly document: DistributorDocument; readonly faults: readonly [] }
  | { readonly document: null; readonly faults: readonly DocumentFault[] }

/** `presets` are the ids of those that come with the program. */
export function readDocument(text: string, presets: ReadonlySet<string>): DocumentReading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { document: null, faults: [{ at: '', message: `this is no JSON: ${message}` }] }
  }
  const parsed = Document.safeParse(value)
  if (!parsed.success) return { document: null, faults: parsed.error.issues.flatMap(faultsOf) }
  const faults = [...crossFaults(parsed.data, presets)]
  return faults.length > 0 ? { document: null, faults } : { document: parsed.data, faults: [] }
}

type Issue = z.core.$ZodIssue

/** Of several forms that a value may have, that which it is nearest to. */
function faultsOf(issue: Issue): DocumentFault[] {
  const at = issue.path.join('.')
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
    return nearest[0]!
      .flatMap((one) => faultsOf(one as Issue))
      .map((fault) => ({ ...fault, at: [at, fault.at].filter((part) => part !== '').join('.') }))
  }
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      at: [at, key].filter((part) => part !== '').join('.'),
      message: 'is not known here',
    }))
  return [{ at, message: wordsOf(issue) }]
}

const depthOf = (issues: readonly { path: readonly PropertyKey[] }[]) =>
  Math.max(0, ...issues.map(({ path }) => path.length))

function wordsOf(issue: Issue): string {
  if (issue.code === 'invalid_type' && issue.input === undefined) return 'is required'
  if (issue.code === 'invalid_type') return `must be ${issue.expected}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  return issue.message[0]!.toLowerCase() + issue.message.slice(1)
}

function* crossFaults(
  document: DistributorDocument,
  presets: ReadonlySet<string>,
): Generator<DocumentFault> {
  const { connections, feeds = [], orders, settings = {} } = document
  const noConnection = (name: string) =>
    Object.hasOwn(connections, name)
      ? null
      : `there is no connection "${name}"; known are ${Object.keys(connections).join(', ')}`
  for (const [name, connection] of Object.entries(connections))
    for (const [member, text] of Object.entries(connection))
      for (const used of typeof text === 'string' && member !== 'url' ? namesIn(text) : [])
        if (!Object.hasOwn(settings, used))
          yield { at: `connections.${name}.${member}`, message: `there is no setting "${used}"` }
  const ids = new Set<string>()
  for (const [i, feed] of feeds.entries()) {
    const at = `feeds.${i}`
    if (ids.has(feed.id)) yield { at: `${at}.id`, message: 'another feed has this id' }
    ids.add(feed.id)
    const isKnown = presets.has(feed.id)
    if (feed.kind === 'preset' && !isKnown)
      yield { at: `${at}.id`, message: `no preset "${feed.id}" comes with the program` }
    if (feed.kind !== 'preset' && isKnown)
      yield { at: `${at}.id`, message: 'a preset that comes with the program has this id' }
    for (const [name, source] of [
      ['source', feed.source],
      ...('join' in feed && feed.join ? ([['join', feed.join]] as const) : []),
    ] as const) {
      const fault = noConnection(source.connection)
      if (fault) yield { at: `${at}.${name}.connection`, message: fault }
      if (connections[source.connection]?.kind === 'http' && source.path.includes('*'))
        yield { at: `${at}.${name}.path`, message: 'by HTTP files cannot be listed: name one' }
      if (!('read' in source)) continue
      const { read } = source
      if (read.as === 'delimited' && !read.format.header && !read.format.columns)
        yield { at: `${at}.${name}.read.format.columns`, message: 'is required without a header' }
    }
  }
  if (orders) yield* orderFaults(orders, document, noConnection)
}

function* orderFaults(
  orders: Orders,
  { connections, settings = {} }: DistributorDocument,
  noConnection: (name: string) => string | null,
): Generator<DocumentFault> {
  const known = new Set([...ORDER_NAMES, ...Object.keys(settings)])
  const unknown = (text: string, more: readonly string[] = []) =>
    namesIn(text).find((name) => !known.has(name) && !more.includes(name))
  const kinds = Object.entries(orders.templates).filter(([, template]) => template)
  if (kinds.length === 0) yield { at: 'orders.templates', message: 'give at least one' }
  for (const [kind, template] of kinds as [string, Template][])
    for (const part of ['head', 'line', 'tail'] as const) {
      const name = unknown(template[part] ?? '', part === 'line' ? LINE_NAMES : [])
      if (name !== undefined)
        yield { at: `orders.templates.${kind}.${part}`, message: `{${name}} is not known here` }
    }
  for (const [kind, template] of kinds as [string, Template][])
    if (
      !namesIn(template.line).includes('line.sku') ||
      !namesIn(template.line).includes('line.qty')
    )
      yield {
        at: `orders.templates.${kind}.line`,
        message: 'has no {line.sku} or no {line.qty}: nobody would know what is ordered',
      }
  if (orders.by === 'file') {
    const fault = noConnection(orders.connection)
    if (fault) yield { at: 'orders.connection', message: fault }
    if (connections[orders.connection]?.kind === 'http')
      yield { at: 'orders.connection', message: 'orders go to a folder or a server of files' }
    if (!namesIn(orders.path).includes('po'))
      yield { at: 'orders.path', message: 'has no {po}: every order needs a name of its own' }
  } else {
    for (const member of ['to', 'subject', 'attachment'] as const) {
      const name = unknown(orders[member] ?? '')
      if (name !== undefined)
        yield { at: `orders.${member}`, message: `{${name}} is not known here` }
    }
    if (!namesIn(orders.subject).includes('po'))
      yield { at: 'orders.subject', message: 'has no {po}: nobody could tell two orders apart' }
  }
  for (const [i, { source }] of (orders.answers ?? []).entries()) {
    const fault = noConnection(source.connection)
    if (fault) yield { at: `orders.answers.${i}.source.connection`, message: fault }
    if (connections[source.connection]?.kind === 'http')
      yield {
        at: `orders.answers.${i}.source.connection`,
        message: 'answers are read in a folder or on a server of files',
      }
  }
}
