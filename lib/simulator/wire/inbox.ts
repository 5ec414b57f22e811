/** Orders that come to a simulated distributor as files, and lie in its inbox until it reads them. */
import { schedule } from '../engine/due.js'
import { CONFIRMED } from '../engine/life.js'
import type { Arrival } from '../engine/order.js'
import { perform } from '../engine/perform.js'
import { insertFile } from '../engine/queries.js'
import type { InboxFile } from '../engine/queries.js'
import { poKey } from '../engine/sales-order.js'
import type { Db } from '../engine/store.js'
import type { Happening, Profile, World } from '../engine/world.js'
import type { FtpAct, FtpAnswer, FtpHandled } from './ftp-conversation.js'
import type { FtpRequest } from './ftp-simulator.js'
import { arrivingOf } from './posted-order.js'
import type { Posted } from './posted-order.js'

export const NOT_THERE: FtpAnswer = { refused: 550, text: 'No such file or directory' }

/** A request to write a file. */
export type StoreRequest = FtpRequest & { readonly act: Extract<FtpAct, { kind: 'store' }> }

/** The name of a file at the end of a path. */
export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The files that nobody has read yet. */
export const waiting = (files: readonly InboxFile[]): InboxFile[] =>
  files.filter(({ readAt }) => readAt === null)

/** A file lands in the inbox, to be read at the next round; `order` is what it is about. */
export function dropInto(
  world: World,
  profile: Profile,
  { act, user, visit }: StoreRequest,
  order: Omit<Posted, 'fault'>,
): FtpHandled {
  const name = nameIn(act.path)
  const text = act.body.toString('latin1')
  const send = arrivingOf({ profile, account: user, visit }, order, {
    content: text,
    lane: 'files',
  })
  const drop = (db: Db, content: string) =>
    dropFile(db, { ...send, id: name, at: world.now() }, content)
  const { fault, result } = perform(
    world,
    send,
    { name: 'submit', step: 'only', isReached: true, late: { kind: 'drop', id: name } },
    (db): FtpAnswer => {
      drop(db, text)
      return { stored: true }
    },
  )
  if (fault === 'half_file') world.store.transact((db) => drop(db, text.slice(0, text.length / 2)))
  return { answer: result ?? { stored: true }, fault }
}

/** Written into the inbox; what comes late has its content in the order itself. */
export function dropFile(
  db: Db,
  { profile, account, arrival, id, at }: Omit<Happening, 'at'> & { at: number },
  content: Arrival['content'] = arrival.content,
): void {
  const owner = { distid: profile.distid, account }
  const file = { name: String(id), key: poKey(arrival.po, profile), arrival, content, at }
  const row = insertFile(db, owner, file)
  if (row !== null) schedule(db, { kind: 'read', ...owner, arrival, id: row }, at + CONFIRMED)
}
