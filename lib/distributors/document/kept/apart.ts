/** Documents that would take each other's files, or ours. */
import { realpathSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import type { Connection, DistributorDocument } from '../schema.js'

/** Files of one kind that a document writes or reads. */
interface Claim {
  /** Whose files they are: this machine's, or those of a login at a server. */
  readonly owner: string
  /** The whole path; a `*` stands for what is not known yet. */
  readonly path: string
}

/**
 * Throws where two documents write orders to the same files or read the same answers, so that one
 * would take the other's; where a document would read its own orders; and where its folder and the
 * state folder lie in each other.
 */
export function refuseShared(documents: readonly DistributorDocument[], dir: string): void {
  for (const [i, one] of documents.entries()) {
    refuseOurs(one, dir)
    const own = ordersOf(one)
    const read = [...answersOf(one), ...feedsOf(one)].find((claim) => overlaps(own, [claim]))
    if (read)
      throw new Error(`${one.distid}: ${read.path} would be read, and is where its orders are put`)
    for (const other of documents.slice(0, i))
      for (const [what, of] of [
        ['write orders to', ordersOf],
        ['read answers in', answersOf],
      ] as const)
        if (overlaps(of(one), of(other)))
          throw new Error(
            `${other.distid} and ${one.distid} would both ${what} ${of(one)[0]!.path}: each needs ` +
              'a folder, or names, of its own',
          )
  }
}

function refuseOurs({ distid, connections }: DistributorDocument, dir: string): void {
  const state = real(dir)
  for (const connection of Object.values(connections)) {
    if (connection.kind !== 'folder') continue
    const root = real(connection.path)
    if (isWithin(root, state) || isWithin(state, root))
      throw new Error(
        `${distid}: the folder ${connection.path} holds the state folder, or lies in it`,
      )
  }
}

const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

/** Without links, as far as it is there. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

const ordersOf = ({ orders, connections }: DistributorDocument): Claim[] =>
  orders?.by === 'file' ? claimsOf(connections[orders.connection], orders.path) : []

const answersOf = ({ orders, connections }: DistributorDocument): Claim[] =>
  (orders?.answers ?? []).flatMap(({ source }) =>
    claimsOf(connections[source.connection], source.path),
  )

const feedsOf = ({ feeds = [], connections }: DistributorDocument): Claim[] =>
  feeds.flatMap((feed) =>
    [feed.source, ...('join' in feed && feed.join ? [feed.join] : [])].flatMap((source) =>
      claimsOf(connections[source.connection], source.path),
    ),
  )

function claimsOf(connection: Connection | undefined, path: string): Claim[] {
  if (!connection || connection.kind === 'http') return []
  const open = path.replaceAll(/\{[\w.]+\}/g, '*')
  return connection.kind === 'folder'
    ? [{ owner: '', path: resolve(real(connection.path), open) }]
    : [
        {
          owner: `${connection.user}@${connection.host.toLowerCase()}`,
          path: resolve('/', open),
        },
      ]
}

const overlaps = (ones: readonly Claim[], others: readonly Claim[]): boolean =>
  ones.some((one) =>
    others.some((other) => one.owner === other.owner && meet(one.path, other.path)),
  )

/** Whether one file may have both names, by what stands before and behind what is not known. */
function meet(one: string, other: string): boolean {
  if (one.split(/[\\/]/).length !== other.split(/[\\/]/).length) return false
  const [a, b] = [endsOf(one), endsOf(other)]
  if (a === null || b === null) {
    const [exact, open] = a === null ? [one, b] : [other, a]
    return open === null
      ? one === other
      : exact.length >= open.head.length + open.tail.length &&
          exact.startsWith(open.head) &&
          exact.endsWith(open.tail)
  }
  return (
    (a.head.startsWith(b.head) || b.head.startsWith(a.head)) &&
    (a.tail.endsWith(b.tail) || b.tail.endsWith(a.tail))
  )
}

const endsOf = (path: string): { head: string; tail: string } | null =>
  path.includes('*')
    ? { head: path.slice(0, path.indexOf('*')), tail: path.slice(path.lastIndexOf('*') + 1) }
    : null
