/** An FTP server where orders are dropped as files and answers lie in a folder, as it is asked. */
import { DAY } from '../../core/clock.js'
import { runDue } from '../engine/due.js'
import type { SalesOrder } from '../engine/order.js'
import { filesSince, ordersSince } from '../engine/queries.js'
import type { InboxFile } from '../engine/queries.js'
import { isLookupDown } from '../engine/sales-order.js'
import type { Db } from '../engine/store.js'
import type { Profile, World } from '../engine/world.js'
import type { FtpAnswer, FtpHandled } from './ftp-conversation.js'
import type { FtpRequest, FtpSite } from './ftp-simulator.js'
import { NOT_THERE, waiting } from './inbox.js'
import type { StoreRequest } from './inbox.js'
import { lookAt } from './posted-order.js'

/** Milliseconds for which files lie there. */
const KEPT = 30 * DAY

/** What of an account lies there. */
export interface Lying {
  /** Files that nobody has read yet. */
  readonly inbox: () => InboxFile[]
  readonly orders: () => SalesOrder[]
}

export interface InboxSite {
  /** The folder of answers, with a slash in front: what is to go wrong with a look does so there. */
  readonly answers: string
  /** What a request is answered that writes nothing. */
  answerAt(request: FtpRequest, lying: Lying): FtpAnswer
  drop(request: StoreRequest): FtpHandled
}

/** A site for the account of the demo. */
export function inboxSite(world: World, profile: Profile, site: InboxSite): FtpSite {
  const { credentials } = profile
  return {
    logIn: (user, password) =>
      user === credentials['ftp_user'] && password === credentials['ftp_password'],
    handle: (request) => handle(world, profile, site, request),
  }
}

function handle(world: World, profile: Profile, site: InboxSite, request: FtpRequest): FtpHandled {
  const { act, user, visit } = request
  if (act.kind === 'store') return site.drop({ ...request, act })
  const lying = (db: Db): Lying => ({
    inbox: () => waitingFor(db, world, profile, user),
    orders: () => ordersKept(db, world, profile, user),
  })
  const look = (db: Db): FtpAnswer => {
    runDue(db, world)
    return site.answerAt(request, lying(db))
  }
  const down: FtpAnswer = { refused: 450, text: 'Busy' }
  if (act.kind !== 'list' || act.path !== site.answers)
    return { answer: world.store.transact(look) }
  if (visit && world.store.transact((db) => isDownFor(db, world, profile, request)))
    return { answer: down }
  const { told, fault } = lookAt<FtpAnswer>(
    { world, profile, account: user, visit },
    { tell: look, down, ordersOf: (db) => lying(db).orders() },
  )
  return { answer: told ?? NOT_THERE, fault }
}

/** Nothing is told of an order that nobody has read yet either. */
const isDownFor = (db: Db, world: World, profile: Profile, { user, visit }: FtpRequest) =>
  waitingFor(db, world, profile, user).some(
    ({ arrival: { clientRef, scenario }, droppedAt: placedAt }) =>
      clientRef === visit?.send.arrival.clientRef &&
      isLookupDown({ scenario, placedAt }, world.now()),
  )

const waitingFor = (db: Db, world: World, { distid }: Profile, account: string) =>
  waiting(filesSince(db, { distid, account }, world.now() - KEPT))

const ordersKept = (db: Db, world: World, { distid }: Profile, account: string) =>
  ordersSince(db, { distid, account }, world.now() - KEPT)
