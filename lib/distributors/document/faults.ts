/** Faults between the parts of a document: names that stand for nothing, and places that cannot work. */
import type { Connection, DistributorDocument, Orders, Template } from './schema.js'
import { LINE_NAMES, namesIn, ORDER_NAMES, strayBraces } from './template.js'

interface Fault {
  readonly at: string
  readonly message: string
}

/** `inherited` are the settings of the distributor of the program that the document adds to. */
export function* faultsBetween(
  document: DistributorDocument,
  presets: ReadonlySet<string>,
  inherited: readonly string[],
): Generator<Fault> {
  const { connections, feeds = [], orders, settings = {} } = document
  if (feeds.length === 0 && !orders)
    yield { at: '', message: 'the document describes neither feeds nor orders' }
  const names = new Set([...Object.keys(settings), ...inherited])
  for (const name of inherited)
    if (Object.hasOwn(settings, name))
      yield { at: `settings.${name}`, message: 'is a setting of the entry already: leave it out' }
  for (const [name, connection] of Object.entries(connections)) {
    const at = `connections.${name}`
    for (const [member, text] of textsIn(connection))
      for (const used of namesIn(text))
        if (!names.has(used))
          yield { at: `${at}.${member}`, message: `there is no setting "${used}"` }
    yield* openPasswords(at, connection, settings)
  }
  yield* feedFaults(document, presets, names)
  if (orders) yield* orderFaults(orders, document, names)
}

/** Each text of a connection that settings may stand in, with its place. */
function textsIn(connection: Connection): [member: string, text: string][] {
  const { kind: _kind, ...members } = connection
  return Object.entries(members).flatMap(([member, value]): [string, string][] => {
    if (typeof value === 'string') return [[member, value]]
    return typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, text]) => [`${member}.${name}`, String(text)])
      : []
  })
}

/** Everybody who reads a document, or a shop's configuration, would read them. */
function* openPasswords(
  at: string,
  connection: Connection,
  settings: NonNullable<DistributorDocument['settings']>,
): Generator<Fault> {
  const secrets: [member: string, text: string][] =
    connection.kind === 'http'
      ? connection.oauth
        ? [['oauth.clientSecret', connection.oauth.clientSecret]]
        : []
      : connection.kind === 'folder' || /^(anonymous|ftp)$/i.test(connection.user)
        ? []
        : [['password', connection.password]]
  for (const [member, text] of secrets) {
    const used = namesIn(text)
    if (used.length === 0)
      yield {
        at: `${at}.${member}`,
        message: 'must be a setting in braces, such as {password}: a document is no place for it',
      }
    for (const name of used)
      if (Object.hasOwn(settings, name) && settings[name]!.secret !== true)
        yield { at: `settings.${name}.secret`, message: 'must be true: it is used as a password' }
  }
}

const noConnection = (connections: DistributorDocument['connections'], name: string) =>
  Object.hasOwn(connections, name)
    ? null
    : `there is no connection "${name}"; known are ${Object.keys(connections).join(', ') || 'none'}`

function* feedFaults(
  { connections, feeds = [] }: DistributorDocument,
  presets: ReadonlySet<string>,
  settings: ReadonlySet<string>,
): Generator<Fault> {
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
      const fault = noConnection(connections, source.connection)
      if (fault) yield { at: `${at}.${name}.connection`, message: fault }
      const isHttp = connections[source.connection]?.kind === 'http'
      if (isHttp && source.path.includes('*'))
        yield { at: `${at}.${name}.path`, message: 'by HTTP files cannot be listed: name one' }
      else yield* starFaults(`${at}.${name}.path`, source.path)
      for (const used of namesIn(source.path))
        if (!settings.has(used))
          yield { at: `${at}.${name}.path`, message: `there is no setting "${used}"` }
      if (!('read' in source)) continue
      const { read } = source
      if (read.as === 'delimited' && !read.format.header && !read.format.columns)
        yield { at: `${at}.${name}.read.format.columns`, message: 'is required without a header' }
    }
  }
}

function* starFaults(at: string, path: string): Generator<Fault> {
  if (path.slice(0, path.lastIndexOf('/') + 1).includes('*'))
    yield { at, message: 'a * stands in the last part of it alone' }
  else if (path.split('*').length > 2) yield { at, message: 'has more than one *' }
}

function* orderFaults(
  orders: Orders,
  document: DistributorDocument,
  settings: ReadonlySet<string>,
): Generator<Fault> {
  const known = new Set([...ORDER_NAMES, ...settings])
  yield* templateFaults(orders, known)
  const left = (orders.po.chars ?? '').replaceAll(/A-Z|a-z|0-9/g, '')
  if (/[A-Za-z0-9]-[A-Za-z0-9]/.test(left))
    yield { at: 'orders.po.chars', message: 'knows the ranges A-Z, a-z and 0-9; write others out' }
  if (orders.by === 'file') yield* fileFaults(orders, document, settings)
  else yield* mailFaults(orders, known, settings)
  const used = namesIn(orders.licenseCopies?.to ?? '').find((name) => !settings.has(name))
  if (used !== undefined)
    yield { at: 'orders.licenseCopies.to', message: `{${used}} is not known here` }
  yield* answerFaults(orders, document, settings)
}

function* templateFaults({ templates }: Orders, known: ReadonlySet<string>): Generator<Fault> {
  const kinds = Object.entries(templates).filter(([, template]) => template)
  if (kinds.length === 0) yield { at: 'orders.templates', message: 'give at least one' }
  for (const [kind, template] of kinds as [string, Template][]) {
    const at = `orders.templates.${kind}`
    for (const part of ['head', 'line', 'tail'] as const) {
      const text = template[part] ?? ''
      const more = part === 'line' ? LINE_NAMES : []
      const name = namesIn(text).find((one) => !known.has(one) && !more.includes(one))
      if (name !== undefined) yield { at: `${at}.${part}`, message: `{${name}} is not known here` }
      const [stray] = strayBraces(text)
      if (stray !== undefined)
        yield { at: `${at}.${part}`, message: `${stray} would be written as it stands` }
    }
    const used = namesIn(template.line)
    if (!used.includes('line.sku') || !used.includes('line.qty'))
      yield {
        at: `${at}.line`,
        message: 'has no {line.sku} or no {line.qty}: nobody would know what is ordered',
      }
    if (template.escape !== 'xml' && !template.line.includes('\n'))
      yield { at: `${at}.line`, message: 'must end its row: put \\r\\n or \\n behind it' }
  }
}

function* fileFaults(
  { connection, path }: Extract<Orders, { by: 'file' }>,
  { connections }: DistributorDocument,
  settings: ReadonlySet<string>,
): Generator<Fault> {
  const fault = noConnection(connections, connection)
  if (fault) yield { at: 'orders.connection', message: fault }
  if (connections[connection]?.kind === 'http')
    yield { at: 'orders.connection', message: 'orders go to a folder or a server of files' }
  const names = namesIn(path)
  const other = names.find((name) => name !== 'po' && !settings.has(name))
  if (other !== undefined)
    yield { at: 'orders.path', message: `{${other}} is not known here: {po} and settings are` }
  if (!namesIn(path.slice(path.lastIndexOf('/') + 1)).includes('po'))
    yield { at: 'orders.path', message: 'has no {po}: every order needs a name of its own' }
  if (path.includes('*'))
    yield { at: 'orders.path', message: 'has a *: it is the name of one file' }
  if (path.split('/').includes('..'))
    yield { at: 'orders.path', message: 'leads out of the folder' }
}

function* mailFaults(
  orders: Extract<Orders, { by: 'mail' }>,
  known: ReadonlySet<string>,
  settings: ReadonlySet<string>,
): Generator<Fault> {
  for (const member of ['to', 'subject', 'attachment'] as const) {
    const names = member === 'to' ? settings : known
    const name = namesIn(orders[member] ?? '').find((one) => !names.has(one))
    if (name !== undefined) yield { at: `orders.${member}`, message: `{${name}} is not known here` }
  }
  if (!/^\{\w+\}$/.test(orders.to) && !/^[^\s@<>,;]+@[^\s@<>,;]+$/.test(orders.to))
    yield { at: 'orders.to', message: 'must be one address, or one setting in braces' }
  if (!namesIn(orders.subject).includes('po'))
    yield { at: 'orders.subject', message: 'has no {po}: nobody could tell two orders apart' }
  if (orders.attachment !== undefined && !namesIn(orders.attachment).includes('po'))
    yield { at: 'orders.attachment', message: 'has no {po}: every order needs a name of its own' }
}

function* answerFaults(
  { answers = [] }: Orders,
  { connections }: DistributorDocument,
  settings: ReadonlySet<string>,
): Generator<Fault> {
  for (const [i, { source, tells, columns }] of answers.entries()) {
    const at = `orders.answers.${i}`
    const fault = noConnection(connections, source.connection)
    if (fault) yield { at: `${at}.source.connection`, message: fault }
    if (connections[source.connection]?.kind === 'http')
      yield {
        at: `${at}.source.connection`,
        message: 'answers are read in a folder or on a server of files',
      }
    yield* starFaults(`${at}.source.path`, source.path)
    for (const used of namesIn(source.path))
      if (!settings.has(used))
        yield { at: `${at}.source.path`, message: `there is no setting "${used}"` }
    const { read } = source
    if (read.as === 'delimited' && !read.format.header && !read.format.columns)
      yield { at: `${at}.source.read.format.columns`, message: 'is required without a header' }
    if (tells === 'shipment' && columns.tracking === undefined)
      yield { at: `${at}.columns.tracking`, message: 'is required: a shipment tells a number' }
  }
}
