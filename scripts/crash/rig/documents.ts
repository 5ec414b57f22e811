/**
 * Two distributors that documents describe, and what stands for them: a folder in which orders are
 * found as files and answered, and a mail server. They are part of the harness and outlive every
 * process that is killed, so they are what is counted.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer } from 'smtp-server'
import type { Recovery } from '../../../lib/distributors/fulfillment.js'
import type { MailServer } from '../../../lib/distributors/session/mail.js'
import { documentFile, documentsIn } from '../../../lib/distributors/document/kept/folder.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import type { Profile } from '../../../lib/simulator/engine/world.js'
import { ALL_NEWS, SHIPMENTS_ALONE } from '../../../lib/simulator/engine/world.js'
import type { SimulatorOrder } from '../../../lib/simulator/inspect.js'
import { profileOf } from '../../../lib/simulator/profiles.js'
import { makeCertificate } from '../../../lib/simulator/wire/certificate.js'
import { timeOf } from './clock.js'
import type { FastClock } from './clock.js'
import { streamOf } from './random.js'

const BY_FILE = 'DOCF'
const BY_MAIL = 'DOCM'
export const DESCRIBED = [BY_FILE, BY_MAIL] as const

/** What is known of how a distributor behaves. */
type Nature = Pick<Profile, 'news' | 'tells'> & { readonly recovery: Recovery }

const NATURES: Readonly<Record<string, Nature>> = {
  [BY_FILE]: {
    recovery: 'file',
    tells: { reference: false, content: true },
    news: { ...ALL_NEWS, held: false, cancelled: false, journey: false },
  },
  [BY_MAIL]: {
    recovery: 'one_shot',
    tells: { reference: false, content: false },
    news: { ...SHIPMENTS_ALONE, parcelsByPo: 'of_one_order' },
  },
}

/** Of one that a simulator plays, or that a document describes. */
export const natureOf = (distid: string): Nature | undefined => profileOf(distid) ?? NATURES[distid]

/** As it came to the distributor: nothing of ours but what an order says. */
export interface TakenOrder {
  readonly distid: string
  readonly po: string
  readonly customer: string
  readonly lines: SimulatorOrder['lines']
  readonly number: string
  readonly status: SimulatorOrder['status']
}

const HEAD = 'P,{po},{customer.name},{shipTo.name},{shipTo.zip5}\r\n'
const TEMPLATE = { escape: 'csv', head: HEAD, line: 'L,{line.sku},{line.qty}\r\n' } as const
const TEMPLATES = { customer: TEMPLATE, dealer: TEMPLATE, store: TEMPLATE }
const PO = { max: 50, chars: 'A-Za-z0-9-' }
const ANSWER = { as: 'delimited', format: { delimiter: ',', quote: '"', header: true } } as const

/** Writes both documents into a state folder; files go to and from `exchange`. */
export function describeDistributors(dir: string, exchange: string): void {
  for (const folder of ['in', 'out']) mkdirSync(join(exchange, folder), { recursive: true })
  mkdirSync(documentsIn(dir), { recursive: true })
  const answer = (kind: 'acknowledgement' | 'shipment', more: object) => ({
    source: { connection: 'exchange', path: `out/${kind}*.csv`, read: ANSWER },
    tells: kind,
    columns: {
      po: 'po',
      number: 'number',
      item: 'item',
      ordered: 'ordered',
      units: 'units',
      name: 'name',
      zip: 'zip',
      ...more,
    },
  })
  const documents: DistributorDocument[] = [
    {
      distid: BY_FILE,
      name: 'Orders by File',
      writtenFrom: 'the crash harness',
      connections: { exchange: { kind: 'folder', path: exchange } },
      orders: {
        by: 'file',
        connection: 'exchange',
        path: 'in/{po}.txt',
        po: PO,
        templates: TEMPLATES,
        answers: [
          answer('acknowledgement', {}),
          answer('shipment', { tracking: 'tracking', carrier: 'carrier' }),
        ],
      },
    },
    {
      distid: BY_MAIL,
      name: 'Orders by Mail',
      writtenFrom: 'the crash harness',
      connections: {},
      orders: {
        by: 'mail',
        to: 'orders@mail.example',
        subject: 'Order {po}',
        po: PO,
        templates: TEMPLATES,
      },
    },
  ]
  for (const document of documents)
    writeFileSync(documentFile(dir, document.distid), JSON.stringify(document))
}

export interface House {
  /** What processes send by. */
  readonly mail: MailServer
  /** Every order that came, the oldest first. */
  readonly taken: readonly TakenOrder[]
  /** Nothing fails any more. */
  calm(): void
  close(): Promise<void>
}

/** Milliseconds of real time between two looks into the folder. */
const LOOK = 20

/** Plays both distributors until it is closed. */
export async function openHouse(
  exchange: string,
  { clock, seed }: { clock: () => FastClock; seed: number },
): Promise<House> {
  const taken: TakenOrder[] = []
  const random = streamOf(seed, 'the house')
  let isCalm = false
  let isAway = false
  const isFaulty = (probability: number) => !isCalm && random.chance(probability)
  const took = (distid: string, text: string): TakenOrder => {
    const order = readOrder(distid, text, taken.length + 1)
    taken.push(order)
    return order
  }
  const timer = setInterval(() => {
    // Now and then its folder is not there until the next look.
    if (isAway) renameSync(join(exchange, 'away'), join(exchange, 'in'))
    else if (isFaulty(0.02)) {
      renameSync(join(exchange, 'in'), join(exchange, 'away'))
      isAway = true
      return
    }
    isAway = false
    // A file may lie there for a while.
    if (isFaulty(0.3)) return
    for (const name of readdirSync(join(exchange, 'in')).filter((one) => one.endsWith('.txt'))) {
      const path = join(exchange, 'in', name)
      const text = readFileSync(path, 'utf8')
      rmSync(path)
      // A draft of a process that was killed is no order.
      if (!name.startsWith('.')) answer(exchange, took(BY_FILE, text), text, timeOf(clock()))
    }
  }, LOOK)
  const made = makeCertificate({ now: Date.now() })
  const server = openMail(made, (text) => took(BY_MAIL, text), isFaulty)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.server.address() as AddressInfo
  return {
    mail: {
      server: `smtps://localhost:${port}`,
      from: 'shop@shop.example',
      ca: made.certificate,
    },
    taken,
    calm: () => {
      isCalm = true
    },
    async close() {
      clearInterval(timer)
      await new Promise<void>((done) => server.close(done))
    },
  }
}

function openMail(
  { key, certificate }: ReturnType<typeof makeCertificate>,
  took: (text: string) => void,
  isFaulty: (probability: number) => boolean,
): SMTPServer {
  const busy = () => Object.assign(new Error('try later'), { responseCode: 451 })
  const server = new SMTPServer({
    secure: true,
    key,
    cert: certificate,
    authOptional: true,
    closeTimeout: 50,
    onRcptTo(_address, _session, done) {
      if (isFaulty(0.05))
        return done(Object.assign(new Error('nobody of that name'), { responseCode: 550 }))
      done(isFaulty(0.1) ? busy() : null)
    },
    onData(stream, session, done) {
      let text = ''
      stream.on('data', (piece: Buffer) => (text += piece.toString()))
      stream.on('end', () => {
        if (isFaulty(0.1)) return done(busy())
        // As a text is written in a message.
        took(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='))
        // Taken, and nobody hears of it.
        if (isFaulty(0.1)) {
          const open = [...(server as unknown as { connections: Set<Connection> }).connections]
          return open.find(({ id }) => id === session.id)?._socket.destroy()
        }
        done()
      })
    },
  })
  // What a killed process breaks off is its own business.
  server.on('error', () => {})
  return server
}

interface Connection {
  readonly id: string
  readonly _socket: { destroy(): void }
}

/** The rows of our template, wherever they stand in a message. */
function readOrder(distid: string, text: string, serial: number): TakenOrder {
  const rows = text.split(/\r?\n/)
  const [, po, customer] = rows.find((row) => row.startsWith('P,'))!.split(',') as string[]
  const ordered = rows
    .filter((row) => row.startsWith('L,'))
    .map((row) => row.split(',') as [string, string, string])
    .map(([, distsku, qty]) => ({ distsku, qty: Number(qty) }))
  const units = ordered.reduce((sum, { qty }) => sum + qty, 0)
  // Some come to nothing, and some to less than was ordered.
  const short =
    distid === BY_MAIL ? 0 : serial % 6 === 0 ? units : serial % 6 === 1 && units > 1 ? 1 : 0
  let left = short
  const lines = ordered.map(({ distsku, qty }) => {
    const missing = Math.min(left, qty)
    left -= missing
    return { distsku, qty, committed: qty - missing }
  })
  return {
    distid,
    po: po!,
    customer: customer!,
    lines,
    number: `F-${serial}`,
    status:
      distid === BY_MAIL
        ? 'Submitted'
        : short === units
          ? 'Not Fulfilled'
          : short > 0
            ? 'Partially Fulfilled'
            : 'Fulfilled',
  }
}

/** An acknowledgement, and for what is shipped the parcel; `now` is the shop's time. */
function answer(exchange: string, order: TakenOrder, text: string, now: number): void {
  const { po, number, lines, status } = order
  const [, , , name, zip] = text.split(/\r?\n/)[0]!.split(',')
  const serial = number.slice('F-'.length)
  const write = (kind: string, header: string, more: string) => {
    const path = join(exchange, 'out', `${kind}-${serial}.csv`)
    const rows = lines.map(({ distsku, qty, committed }) =>
      [po, number, distsku, qty, committed, name, zip].join(',').concat(more),
    )
    writeFileSync(
      `${path}.new`,
      [`po,number,item,ordered,units,name,zip${header}`, ...rows, ''].join('\r\n'),
    )
    utimesSync(`${path}.new`, now / 1_000, now / 1_000)
    renameSync(`${path}.new`, path)
  }
  write('acknowledgement', '', '')
  if (status !== 'Not Fulfilled')
    write('shipment', ',tracking,carrier', `,1ZSIM${serial.padStart(10, '0')}0,UPS`)
}

/**
 * What they have, as one of our purchase orders each, told apart by all that an order says; one that
 * is nobody's bears a reference that nobody has.
 */
export function executedBy(
  taken: readonly TakenOrder[],
  ours: readonly (Pick<TakenOrder, 'distid' | 'po' | 'customer'> & {
    readonly clientRef: string
    readonly lines: readonly { readonly distsku: string; readonly qty: number }[]
  })[],
): SimulatorOrder[] {
  const keyOf = ({ distid, po, customer, lines }: Omit<(typeof ours)[number], 'clientRef'>) =>
    JSON.stringify([distid, po, customer, lines.map(({ distsku, qty }) => `${qty} ${distsku}`)])
  const refs = new Map(ours.map((one) => [keyOf(one), one.clientRef]))
  return taken.map((one) => ({
    distid: one.distid,
    account: '',
    clientRef: refs.get(keyOf(one)) ?? `of nobody: ${one.number}`,
    po: one.po,
    number: one.number,
    lines: one.lines,
    status: one.status,
    executedAt: null,
  }))
}
