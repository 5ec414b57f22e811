/** RSR's FTPS server as a simulator has it: the inventory, an inbox, and answers in the outbox. */
import { DAY } from '../../../core/clock.js'
import { LIFETIME } from '../../../simulator/engine/life.js'
import { filesSince, ordersAnywhere } from '../../../simulator/engine/queries.js'
import type { InboxFile } from '../../../simulator/engine/queries.js'
import type { Db } from '../../../simulator/engine/store.js'
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { FtpAnswer, FtpHandled } from '../../../simulator/wire/ftp-conversation.js'
import type { FtpRequest, FtpSite } from '../../../simulator/wire/ftp-simulator.js'
import { dropInto, nameIn, NOT_THERE, waiting } from '../../../simulator/wire/inbox.js'
import type { StoreRequest } from '../../../simulator/wire/inbox.js'
import { lookAt } from '../../../simulator/wire/posted-order.js'
import { INBOX, OUTBOX } from './files.js'
import { answersOf } from './simulator-answers.js'
import { rsrDealers } from './simulated-feed.js'
import { readFileOf } from './simulator-inbox.js'
import { inventoryFile, inventoryTime, itemsOf } from './simulator-items.js'

const FEEDS = '/ftpdownloads'
const DEALERS = 'ffl-transfer-dealers.txt'
const ORDER_NAME = /^EORD-\d{5}-\d{8}-\d{4}\.txt$/
/** Milliseconds for which answers lie in the outbox. */
const KEPT = 30 * DAY

export function rsrFiles(world: World, profile: Profile): FtpSite {
  const { credentials } = profile
  const passwords = new Map([
    [credentials['api_user'], credentials['ftp_password']],
    [credentials['store_account'], credentials['store_ftp_password']],
  ])
  return {
    logIn: (user, password) => passwords.get(user) === password,
    handle: (request) => handle(world, profile, request),
  }
}

function handle(world: World, profile: Profile, request: FtpRequest): FtpHandled {
  const { act } = request
  if (act.kind === 'store') return drop(world, profile, { ...request, act })
  if (act.path.startsWith(FEEDS)) return { answer: feedAt(world, request) }
  const look = (db: Db): FtpAnswer => answerAt(db, world, profile, request)
  // Whether a file is there is asked before each send; a look has its faults where it reads.
  if (act.kind === 'size') return { answer: world.store.transact(look) }
  const { told, fault } = lookAt<FtpAnswer>(
    { world, profile, account: request.user, visit: request.visit },
    {
      tell: look,
      down: { refused: 450, text: 'Busy' },
      ordersOf: (db) =>
        filesSince(db, ownerOf(profile, request), world.now() - LIFETIME).flatMap(({ arrival }) =>
          ordersAnywhere(db, arrival.clientRef),
        ),
    },
  )
  return { answer: told ?? NOT_THERE, fault }
}

const ownerOf = ({ distid }: Profile, { user }: Pick<FtpRequest, 'user'>) => ({
  distid,
  account: user,
})

function feedAt(world: World, { act: { kind, path } }: FtpRequest): FtpAnswer {
  const name = path.slice(FEEDS.length + 1)
  if (kind === 'list') return { names: ['rsrinventory-new.txt', 'IM-QTY-CSV.csv', DEALERS] }
  if (name === 'rsrinventory-new.txt') {
    const file = inventoryFile(world)
    return file ? { file, modifiedAt: inventoryTime(world) } : NOT_THERE
  }
  if (name === DEALERS) return { file: Buffer.from(rsrDealers(world.now())) }
  if (name !== 'IM-QTY-CSV.csv') return NOT_THERE
  const rows = itemsOf(world).map(
    (item) => `${item.get('stock')},${item.get('quantity')!.padStart(7, '0')}\r\n`,
  )
  return { file: Buffer.from(rows.join('')) }
}

/** Files that wait in the inbox, and answers; the main account may read them, and not list them. */
function answerAt(db: Db, world: World, profile: Profile, request: FtpRequest): FtpAnswer {
  const { kind, path } = request.act
  const files = filesSince(db, ownerOf(profile, request), world.now() - KEPT)
  const [inbox, outbox] = [`/${INBOX}`, `/${OUTBOX}`]
  if (kind === 'list') {
    if (request.user === profile.credentials['store_account'])
      return { refused: 550, text: 'Permission denied' }
    if (path === inbox) return { names: waiting(files).map(({ name }) => name) }
    if (path !== outbox) return { names: [] }
    return { names: answers(db, world, profile, files).map(({ name }) => name) }
  }
  const name = nameIn(path)
  const text = path.startsWith(`${inbox}/`)
    ? waiting(files).find((file) => file.name === name)?.content
    : path.startsWith(`${outbox}/`)
      ? answers(db, world, profile, files).find((file) => file.name === name)?.text
      : undefined
  return text === undefined ? NOT_THERE : { file: Buffer.from(text, 'latin1') }
}

const answers = (db: Db, world: World, profile: Profile, files: readonly InboxFile[]) =>
  files.flatMap((file) => answersOf(db, profile, file, world.now()))

/** A file lands in the inbox, to be read at the next round. */
function drop(world: World, profile: Profile, request: StoreRequest): FtpHandled {
  const { path, body } = request.act
  const name = nameIn(path)
  if (path !== `/${INBOX}/${name}` || !ORDER_NAME.test(name))
    return { answer: { refused: 553, text: 'Not allowed' } }
  const [order] = readFileOf(body.toString('latin1')).orders
  return dropInto(world, profile, request, {
    po: order?.po ?? '',
    lines: order?.lines ?? [],
    to: order?.to ?? { name: '', address1: '', zip: '' },
    firearms: order?.license !== undefined,
  })
}
