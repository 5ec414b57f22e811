/** Hicks Inc.'s FTP server as a simulator has it: the feed, an inbox, and what comes of it. */
import { DAY } from '../../../core/clock.js'
import { runDue } from '../../../simulator/engine/due.js'
import { filesSince, ordersSince } from '../../../simulator/engine/queries.js'
import { isLookupDown } from '../../../simulator/engine/sales-order.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { FtpAnswer, FtpHandled } from '../../../simulator/wire/ftp-conversation.js'
import type { FtpRequest, FtpSite } from '../../../simulator/wire/ftp-simulator.js'
import { dropInto, nameIn, NOT_THERE, waiting } from '../../../simulator/wire/inbox.js'
import type { StoreRequest } from '../../../simulator/wire/inbox.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import { INBOX, PROBLEMS, TAKEN, TRACKING } from './account.js'
import { answersOf, trackingOf } from './simulator-answers.js'
import { readOrderFile } from './simulator-inbox.js'
import { feedAt } from './simulator-items.js'

/** Milliseconds for which answers lie there. */
const KEPT = 30 * DAY

export function hicksIncFiles(world: World, profile: Profile): FtpSite {
  const { credentials } = profile
  return {
    logIn: (user, password) =>
      user === credentials['ftp_user'] && password === credentials['ftp_password'],
    handle: (request) => handle(world, profile, request),
  }
}

/** What is to go wrong with a look goes wrong where the orders that were taken are listed. */
function handle(world: World, profile: Profile, request: FtpRequest): FtpHandled {
  const { act, user, visit } = request
  if (act.kind === 'store') return drop(world, profile, { ...request, act })
  const look = (db: Db): FtpAnswer => {
    runDue(db, world)
    return answerAt(db, world, profile, request)
  }
  const down: FtpAnswer = { refused: 450, text: 'Busy' }
  if (act.kind !== 'list' || act.path !== `/${TAKEN}`) return { answer: world.store.transact(look) }
  if (visit && world.store.transact((db) => isDownFor(db, world, profile, request)))
    return { answer: down }
  const { told, fault } = lookAt<FtpAnswer>(
    { world, profile, account: user, visit },
    { tell: look, down, ordersOf: (db) => ordersKept(db, world, profile, user) },
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

function answerAt(
  db: Db,
  world: World,
  profile: Profile,
  { act: { kind, path: rooted }, user }: FtpRequest,
): FtpAnswer {
  const path = rooted.slice(1)
  const now = world.now()
  const inbox = () => waitingFor(db, world, profile, user)
  const orders = () => ordersKept(db, world, profile, user)
  if (kind === 'list') {
    if (path === INBOX) return { names: inbox().map((file) => file.name) }
    if (path !== TAKEN && path !== PROBLEMS) return NOT_THERE
    const times = new Map(
      answersOf(profile, orders(), now)
        .filter((answer) => answer.path.startsWith(`${path}/`))
        .map((answer) => [nameIn(answer.path), answer.writtenAt]),
    )
    return { names: [...times.keys()], modifiedAt: (name) => times.get(name)! }
  }
  if (path === TRACKING)
    return { file: Buffer.from(trackingOf(profile, orders(), now)), modifiedAt: now }
  if (path.startsWith(`${INBOX}/`)) {
    const file = inbox().find((one) => one.name === nameIn(path))
    return file ? { file: Buffer.from(file.content, 'latin1') } : NOT_THERE
  }
  const answer = answersOf(profile, orders(), now).find((one) => one.path === path)
  return answer
    ? { file: Buffer.from(answer.text, 'latin1'), modifiedAt: answer.writtenAt }
    : feedAt(world, path)
}

/** A file lands in the inbox, to be read at the next round. */
function drop(world: World, profile: Profile, request: StoreRequest): FtpHandled {
  const { path, body } = request.act
  const name = nameIn(path)
  if (path !== `/${INBOX}/${name}` || !name.endsWith('.txt'))
    return { answer: { refused: 553, text: 'Not allowed' } }
  const order = readOrderFile(body.toString('latin1'))
  const nobody = { name: '', address1: '', zip: '' }
  return dropInto(
    world,
    profile,
    request,
    order ?? { po: name, lines: [], to: nobody, firearms: false },
  )
}
