/**
 * Feeds that come with an account, against a program that reads the same file whole and does nothing
 * with it: `npx tsx --expose-gc scripts/bench/account-feeds.ts [rows]`, 1,000,000 by default.
 *
 *   RSR          FTP to a file      against csv-parse over the file
 *   Lipsey's     JSON to CSV        against JSON.parse of each line of the file, an item a line
 *   Chattanooga  CSV to a file      against csv-parse over the file
 *   Sports South escaped XML to CSV against fast-xml-parser over each row, unescaped
 *
 * Prints rows a second as a ratio, and how far memory rose above idle: less than 300 MB is the goal.
 * A server of a process of its own makes the answers up while it sends them.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parse } from 'csv-parse'
import { XMLParser } from 'fast-xml-parser'
import { simulated } from '../../lib/distributors/builtin/index.js'
import { COLUMNS } from '../../lib/distributors/builtin/rsr/feed.js'
import { CHATTANOOGA_COLUMNS } from '../../lib/distributors/builtin/chattanooga/simulated-feed.js'
import { ITEM_COLUMNS } from '../../lib/distributors/builtin/sports-south/columns.js'
import { openSession } from '../../lib/distributors/session/open-session.js'
import type { Session } from '../../lib/distributors/session/session.js'
import { escapeXml, withoutEntities } from '../../lib/distributors/session/xml.js'

const ROWS = Number(process.argv[2] ?? 1_000_000)
const MB = 1_048_576
/** As many columns as keep a million rows below the limit of an answer. */
const SENT = ITEM_COLUMNS.filter((column) =>
  /^(ITEMNO|IDESC|ITYPE|CPRC|PRC1|QTYOH|ITUPC|MFGINO|CATID|MFPRC|IMODEL|SHDESC)$/.test(column),
)
/** Rows that are made and sent at a time. */
const BATCH = 500

/** A cell of the feed of TSW: the item's number, or a text of its own. */
const sent = (column: string, i: number) =>
  column === 'ITEMNO' ? `${i + 1}` : `${column} &amp; ${i % 977}`

/** A row of each distributor's answer. */
const MADE: Readonly<Record<string, (i: number) => string>> = {
  RSR: (i) =>
    `${COLUMNS.map((column, at) => (at === 0 ? `SKU${i}` : at < 15 ? `${column} ${i % 977}` : '')).join(';')}\r\n`,
  LIP: (i) =>
    JSON.stringify({
      itemNo: `AD${i}`,
      description1: `Item ${i} of "many", with a comma`,
      description2: 'Semi-auto pistol 9mm Luger 4.6" barrel black 17rd',
      upc: String(700_000_000_000 + i),
      manufacturerModelNo: `M-${i}`,
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, n) => [`member${n}`, n % 3 ? '' : null]),
      ),
      price: 100 + (i % 900),
      currentPrice: 99.5,
      quantity: i % 50,
      fflRequired: i % 2 === 0,
      sotRequired: false,
    }),
  CSSI: (i) =>
    `${CHATTANOOGA_COLUMNS.map((column, at) => (at === 0 ? `SKU${i}` : `"${column}, ${i % 977}"`)).join(',')}\r\n`,
  TSW: (i) =>
    `<Table>${SENT.map((column) => `<${column}>${sent(column, i)}</${column}>`).join('')}</Table>\r\n`,
}

/** The answer; its rows are lines. */
function* made(distid: string): Generator<string> {
  const row = MADE[distid]!
  const write = distid === 'TSW' ? escapeXml : (text: string) => text
  yield distid === 'LIP' ? '{"success":true,"authorized":true,"errors":[],"data":[\n' : ''
  if (distid === 'TSW') yield `<?xml version="1.0"?><string xmlns="x">${escapeXml('<NewDataSet>')}`
  if (distid === 'CSSI') yield `${CHATTANOOGA_COLUMNS.join(',')}\r\n`
  for (let i = 0; i < ROWS; i += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, ROWS - i) }, (_, n) => row(i + n))
    yield distid === 'LIP' ? (i > 0 ? ',\n' : '') + rows.join(',\n') : write(rows.join(''))
  }
  if (distid === 'LIP') yield '\n]}'
  if (distid === 'TSW') yield `${escapeXml('</NewDataSet>')}</string>`
}

const DISTIDS = ['RSR', 'LIP', 'CSSI', 'TSW']
const [, , , folder = ''] = process.argv
const fileOf = (distid: string) => join(folder, `${distid}.answer`)
if (process.send) serve()
else await bench()

/** The child: one server for the three APIs, and one for files. */
function serve(): void {
  for (const distid of DISTIDS) writeAnswer(distid, fileOf(distid))
  const web = createServer((request, response) => {
    const path = request.url!
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString()
      const long = (distid: string) => createReadStream(fileOf(distid)).pipe(response)
      if (path.endsWith('login')) return response.end('{"token":"t","econtact":{"success":true}}')
      if (path.endsWith('CatalogFeed')) return long('LIP')
      if (path.endsWith('product-feed'))
        return response.end(
          JSON.stringify({ product_feed: { url: `http://${request.headers.host}/f.csv` } }),
        )
      if (path.endsWith('f.csv')) return long('CSSI')
      if (path.endsWith('DailyItemUpdate') && body.includes('LastItem=-1')) return long('TSW')
      return response.end('<string>&lt;NewDataSet /&gt;</string>')
    })
  }).listen(0, '127.0.0.1')
  const ftp = createTcpServer((control) => {
    let data: Promise<Socket> | undefined
    const say = (text: string) => control.write(`${text}\r\n`)
    say('220 Hello')
    const obey = async (command: string) => {
      if (command === 'USER') return say('331 Password')
      if (command === 'PASS') return say('230 In')
      if (command === 'SIZE' || command === 'MDTM') return say('502 No')
      if (command === 'EPSV') {
        const listener = createTcpServer().listen(0, '127.0.0.1')
        data = once(listener, 'connection').then(([socket]) => socket as Socket)
        await once(listener, 'listening')
        return say(`229 Passive (|||${(listener.address() as AddressInfo).port}|)`)
      }
      if (command !== 'RETR') return say('200 Yes')
      say('150 Here')
      createReadStream(fileOf('RSR'))
        .pipe(await data!)
        .once('close', () => say('226 Done'))
    }
    control
      .on('error', () => {})
      .on('data', (bytes) => {
        for (const line of bytes.toString().split('\r\n').filter(Boolean))
          void obey(line.split(' ')[0]!)
      })
  }).listen(0, '127.0.0.1', () => {
    const port = (server: { address(): unknown }) => (server.address() as AddressInfo).port
    process.send!({ web: port(web), ftp: port(ftp) })
  })
}

async function bench(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'qm-bench-'))
  const child = fork(fileURLToPath(import.meta.url), [String(ROWS), dir])
  const [ports] = (await once(child, 'message')) as [{ web: number; ftp: number }]
  try {
    globalThis.gc?.()
    const idle = process.memoryUsage().rss
    const ours = new Map<string, readonly [seconds: number, most: number]>()
    // All before the first yardstick, which leaves memory behind that would count as idle.
    for (const distid of DISTIDS)
      ours.set(distid, await measured(() => bring(distid, ports, join(dir, distid))))
    for (const distid of DISTIDS) {
      const [own, most] = ours.get(distid)!
      const [theirs] = await measured(() => yardstick(distid, join(dir, `${distid}.answer`)))
      console.log(
        `${distid.padEnd(5)}${Math.round(ROWS / own)} rows/s, ${(theirs / own).toFixed(2)} x the ` +
          `yardstick's; memory ${Math.round((most - idle) / MB)} MB above idle`,
      )
    }
  } finally {
    child.kill()
    rmSync(dir, { recursive: true, force: true })
  }
}

function writeAnswer(distid: string, file: string): void {
  const descriptor = openSync(file, 'w')
  for (const text of made(distid)) writeSync(descriptor, text)
  closeSync(descriptor)
}

/** Seconds, and the most bytes of memory. */
async function measured(work: () => Promise<void>): Promise<readonly [number, number]> {
  let most = 0
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 20)
  const start = performance.now()
  await work()
  clearInterval(look)
  return [(performance.now() - start) / 1_000, most]
}

async function bring(
  distid: string,
  ports: { web: number; ftp: number },
  file: string,
): Promise<void> {
  const { distributor, simulator } = simulated.get(distid)!
  const session = openSession(distributor, {
    settings: simulator.credentials,
    signal: AbortSignal.timeout(3_600_000),
    now: () => Date.now(),
  })
  const [address, egress] = [`http://127.0.0.1:${ports.web}/`, { hosts: [], simulator: {} }]
  const there: Session = {
    ...session,
    http: session.httpAt(address, egress),
    stream: session.streamAt(address, egress),
    streamFrom: ({ url, ...call }, take) =>
      session.streamAt('', egress)({ ...call, method: 'GET', path: url }, take),
    ftp: session.ftpAt({ host: '127.0.0.1', port: ports.ftp, isSecure: false }, egress),
  }
  const [feed] = Object.values(distributor.feeds!)
  await feed!.bring(there, { file, mark: null, holdUntil: async () => {} })
  rmSync(file)
}

/** Reads the same file and does nothing with it. */
async function yardstick(distid: string, file: string): Promise<void> {
  if (distid === 'RSR' || distid === 'CSSI') {
    const parser = createReadStream(file).pipe(
      distid === 'RSR' ? parse({ delimiter: ';', quote: null }) : parse(),
    )
    for await (const row of parser) void row
    return
  }
  const xml = new XMLParser()
  for await (const line of createInterface({ input: createReadStream(file) }))
    if (distid === 'TSW')
      xml.parse(withoutEntities(line.replace(/^.*&lt;NewDataSet&gt;|<.*$/g, '')))
    else if (line.startsWith('{"itemNo')) JSON.parse(line.replace(/,$/, ''))
}
