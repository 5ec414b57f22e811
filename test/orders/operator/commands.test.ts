/**
 * What the operator does with orders, beside a server that places them, as a person or a script
 * calls it.
 */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { ChildProcess } from 'node:child_process'
import { FRESH, get, json, run, runProcess, start, stop } from '../../server/launcher.js'

let scratch: string
let dir: string
let server: { child: ChildProcess; url: string; key: string } | null = null
/** An accessory of each distributor. */
let items: Record<string, { distid: string; distsku: string; upc: string }>

async function serve(): Promise<void> {
  const { child, first } = await start(dir, 'demo')
  server = {
    child,
    url: first.url,
    key: readFileSync(join(dir, 'keys', 'demo-key'), 'utf8').trim(),
  }
}

async function stopServing(): Promise<void> {
  if (server) await stop(server.child)
  server = null
}

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-cli-orders-'))
  dir = join(scratch, 'shop')
  await serve()
  const found = await Promise.all(
    ['RSR', 'LIP', 'CSSI'].map(async (distid) => {
      const { body } = await get(
        `${server!.url}/v1/products/search?distributor=${distid}&in_stock=true` +
          '&drop_ship_only=true&ffl_required=false&product_class=AC&sort=-qty&page_size=1',
        server!.key,
      )
      const [product] = (
        body.data as { products: { distid: string; distsku: string; upc: string }[] }
      ).products
      return [distid, { distid, distsku: product!.distsku, upc: product!.upc }] as const
    }),
  )
  items = Object.fromEntries(found)
})
after(async () => {
  await stopServing()
  rmSync(scratch, { recursive: true, force: true })
})

const body = (order_id: string, distid: string, more: object = {}) => ({
  order_id,
  customer: {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    phone: '602-555-0100',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
  },
  items: [{ ...items[distid]!, qty: 1 }],
  ...more,
})

async function place(
  order: object,
): Promise<{ status: number; data: { status: string }; error?: { code: string } }> {
  const response = await fetch(`${server!.url}/v1/orders`, {
    method: 'POST',
    headers: { ...FRESH, 'x-api-key': server!.key, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  return { status: response.status, ...((await response.json()) as { data: { status: string } }) }
}

async function until(
  what: () => Promise<boolean>,
  { seconds = 10, every = 0.25 } = {},
): Promise<void> {
  for (let left = seconds / every; !(await what()); left--) {
    assert.ok(left > 0)
    await new Promise((resolve) => {
      setTimeout(resolve, every * 1_000)
    })
  }
}

const listed = async (...args: string[]) =>
  ((await json(dir, 'orders', 'list', ...args)) as unknown as { orders: Record<string, unknown>[] })
    .orders

describe('orders preflight', () => {
  test('says what would be placed, for a file and for a key', async () => {
    const file = join(scratch, 'order.json')
    writeFileSync(file, JSON.stringify(body('PRE-1', 'RSR')))
    const { status, out, err } = await run(dir, 'orders', 'preflight', file)
    assert.equal(status, 0, err)
    assert.match(
      out,
      /^RSR Group \(RSR\), PO PRE-1-LIB0-010, to Pat Doe, 12 Main St, Phoenix, AZ 85001\n/,
    )
    assert.match(out, /1 fulfillment order, mode simulator: nothing real is bought\./)
    assert.match(out, /It would be taken in and sent as PRE-1\.\n$/)
    const [key] = ((await json(dir, 'keys', 'list')) as unknown as { keys: { id: string }[] }).keys
    const told = (await json(dir, 'orders', 'preflight', file, '--key-id', key!.id)) as unknown as {
      quota: object
      fulfillment_orders: { po_number: string }[]
    }
    assert.deepEqual(told.quota, { hour: 60, day: 500 })
    assert.match(told.fulfillment_orders[0]!.po_number, /^PRE-1-[A-Z0-9]{4}-010$/)
    assert.deepEqual(await listed('--state', 'all'), [])
  })

  test('shows what would be sent, without secrets, and sends nothing', async () => {
    const file = join(scratch, 'wire.json')
    writeFileSync(file, JSON.stringify(body('WIRE-1', 'RSR')))
    const { status, out, err } = await run(dir, 'orders', 'preflight', file, '--dry-run-orders')
    assert.equal(status, 0, err)
    assert.match(
      out,
      /^ {2}> POST https:\/\/www\.rsrgroup\.com\/api\/rsrbridge\/1\.0\/pos\/place-order$/m,
    )
    assert.match(
      out,
      /^ {2}\{"Username":"99901","Password":"\[credential\]","POS":"I","PONum":"WIRE-1-LIB0-010",/m,
    )
    const told = (await json(dir, 'orders', 'preflight', file)) as unknown as {
      fulfillment_orders: { purchase_orders: object[] }[]
    }
    assert.ok(!('wire' in told.fulfillment_orders[0]!.purchase_orders[0]!))
    assert.deepEqual(await listed('--state', 'all'), [])
  })

  test('a refusal ends with 1 and every fault on a line', async () => {
    const file = join(scratch, 'faulty.json')
    writeFileSync(file, JSON.stringify({ order_id: 'a b', items: [] }))
    const { status, out } = await run(dir, 'orders', 'preflight', file)
    assert.equal(status, 1)
    assert.match(out, /^It would be refused: 400 invalid_parameter: .*\n( {2}\S+: .*\n)+$/)
    writeFileSync(file, '{')
    assert.match(
      (await run(dir, 'orders', 'preflight', file)).err,
      /^invalid_json: .*faulty\.json is not valid JSON/,
    )
    assert.equal((await run(dir, 'orders', 'preflight', join(scratch, 'nowhere.json'))).status, 1)
  })
})

describe('an order that nobody could find out', () => {
  test('is listed and shown, and settled beside the server', async () => {
    assert.equal((await place(body('FINE', 'RSR'))).status, 200)
    assert.equal(
      (await place(body('LOST', 'LIP', { po_number: 'SIM-TIMEOUT-1' }))).data.status,
      'pending',
    )
    assert.deepEqual(
      (await listed()).map(({ order_id: id, state }) => [id, state]),
      [['LOST', 'unknown']],
    )
    assert.match(
      (await runProcess(dir, 'orders', 'list')).out,
      /LOST +LIP +unknown +\d+ s +SIM-TIMEOUT-1 +- +no answer in time/,
    )
    const shown = await run(dir, 'orders', 'show', 'LOST')
    assert.match(
      shown.out,
      new RegExp(
        '^Order LOST of Demo Shop, .* mode simulator, key .*\\. It holds its order_id\\.\n' +
          ' {2}LIP: Pending, PO SIM-TIMEOUT-1\n {4}for Pat Doe, to the customer: 1 x ',
      ),
    )
    assert.match(
      shown.out,
      new RegExp(
        'taken in, and being sent \\[\\d+\\]\n' +
          '.*whether it arrived is not known: no answer in time \\[\\d+\\]',
      ),
    )
    assert.ok(!/demo-lipseys/.test(shown.out), 'no credential')

    // In its own folders the server beside it writes by itself.
    const below = readdirSync(dir).filter((name) => name !== 'history' && name !== 'analytics')
    const files = () =>
      [
        ...readdirSync(dir),
        ...below.flatMap((name) =>
          statSync(join(dir, name)).isDirectory()
            ? readdirSync(join(dir, name), { recursive: true, encoding: 'utf8' }).map((file) =>
                join(name, file),
              )
            : [],
        ),
      ]
        .filter((name) => !/-(wal|shm)$|\.lock(-journal)?$|^reserve$/.test(name))
        .sort()
    const before = files()
    const dry = await run(
      dir,
      'orders',
      'resolve',
      'LOST',
      '--absent',
      'resend',
      '--reason',
      'their desk looked',
    )
    assert.deepEqual(
      [dry.status, /would be sent again/.test(dry.out), /with --yes/.test(dry.out)],
      [1, true, true],
    )
    assert.equal(
      (await json(dir, 'orders', 'resolve', 'LOST', '--placed', 'TEL-1', '--dry-run'))['dry_run'],
      true,
    )
    for (const [args, says] of [
      [[], /either --placed NUMBER or --absent/],
      [['--absent', 'maybe'], /must be resend/],
      [['--absent', 'refuse'], /--reason is missing/],
      [['--placed', '1', '--absent', 'resend'], /either/],
    ] as const) {
      const { status, err } = await run(dir, 'orders', 'resolve', 'LOST', ...args)
      assert.deepEqual([status, says.test(err)], [2, true], err)
    }
    assert.equal(
      (await run(dir, 'orders', 'resolve', 'NOBODY', '--placed', '1', '--yes')).status,
      1,
    )
    assert.deepEqual(files(), before)
    assert.equal((await listed())[0]!['state'], 'unknown')

    assert.equal(
      (
        await json(
          dir,
          'orders',
          'resolve',
          'LOST',
          '--absent',
          'resend',
          '--reason',
          'their desk looked',
          '--yes',
        )
      )['after'],
      'planned',
    )
    await until(async () => (await listed()).length === 0)
    const [order] = (
      (await json(dir, 'orders', 'show', 'LOST')) as unknown as {
        orders: {
          fulfillment_orders: {
            purchase_orders: { sends: number; state: string; lines: { what: string }[] }[]
          }[]
        }[]
      }
    ).orders
    const [purchase] = order!.fulfillment_orders[0]!.purchase_orders
    assert.deepEqual(
      [
        purchase!.state,
        purchase!.sends,
        purchase!.lines.some(
          ({ what }) =>
            what ===
            'decided by cli: the distributor does not have it: send it again (their desk looked)',
        ),
      ],
      ['placed', 2, true],
    )
  })

  test('reconciling beside a server has the server look', async () => {
    assert.equal(
      (await place(body('SLOW', 'LIP', { po_number: 'SIM-TIMEOUT-AFTER-ACCEPT-2' }))).data.status,
      'pending',
    )
    const report = (await json(dir, 'orders', 'reconcile')) as Record<string, unknown>
    assert.deepEqual(
      [report['reconciled_by'], report['open_before'], report['timed_out'], report['since']],
      ['another process', 1, false, null],
    )
    await json(dir, 'orders', 'resolve', 'SLOW', '--placed', 'TEL-9', '--yes')
    for (const [args, says] of [
      [['--since', 'yesterday'], /is not a time/],
      [['--since', '2099-01-01'], /lies in the future/],
    ] as const) {
      const { status, err } = await run(dir, 'orders', 'reconcile', ...args)
      assert.deepEqual([status, says.test(err)], [2, true], err)
    }
  })
})

describe('orders journal verify', () => {
  test('is sound, and its head is an anchor', async () => {
    const found = (await json(dir, 'orders', 'journal', 'verify')) as unknown as {
      head: { seq: number; mac: string }
      lines: number
      file: { pending: number }
    }
    assert.ok(found.lines > 5)
    const { out, status } = await run(
      dir,
      'orders',
      'journal',
      'verify',
      '--anchor',
      `${found.head.seq}:${found.head.mac}`,
    )
    assert.equal(status, 0)
    assert.match(out, /lines are as they were written, and \d+ purchase orders are what they say\./)
    assert.equal((await run(dir, 'orders', 'journal', 'verify', '--anchor', 'x')).status, 2)
    assert.equal(
      (await run(dir, 'orders', 'journal', 'verify', '--anchor', `1:${'x'.repeat(43)}`)).status,
      1,
    )
    assert.match(
      (await run(dir, 'orders', 'journal', '--help')).out,
      /orders journal verify {2,}Prove/,
    )
    assert.match((await run(dir, 'orders', 'journal')).err, /which of these: orders preflight, /)
  })
})

describe('backup and restore', () => {
  test('what came after the backup is found, with the journal and without it', async () => {
    const backup = join(scratch, 'backup')
    assert.equal((await json(dir, 'backup', backup, '--dry-run'))['dry_run'], true)
    assert.ok(!existsSync(backup))
    const made = (await json(dir, 'backup', backup)) as unknown as {
      made_at: string
      files: unknown[]
    }
    assert.ok(!readdirSync(backup).includes('keys'))
    assert.match((await runProcess(dir, 'backup', backup)).err, /is not empty/)
    for (const [id, distid] of [
      ['AFTER-1', 'CSSI'],
      ['AFTER-2', 'CSSI'],
    ] as const)
      assert.equal((await place(body(id, distid))).data.status, 'placed')
    const refused = await run(dir, 'restore', backup)
    assert.deepEqual([refused.status, /a server runs/.test(refused.err)], [1, true])
    await stopServing()

    const kept = (await json(dir, 'restore', backup)) as Record<string, unknown>
    assert.deepEqual([kept['journal_kept'], Number(kept['replayed']) > 0], [true, true])
    assert.equal((await json(dir, 'orders', 'reconcile', '--resume', '--yes'))['resumed'], true)
    assert.deepEqual(
      (await listed('--state', 'all')).slice(0, 2).map(({ order_id: id, state }) => [id, state]),
      [
        ['AFTER-2', 'placed'],
        ['AFTER-1', 'placed'],
      ],
    )
    assert.equal((await run(dir, 'orders', 'journal', 'verify')).status, 0)

    rmSync(join(dir, 'orders.journal'))
    const { out } = await runProcess(dir, 'restore', backup)
    assert.match(
      out,
      new RegExp(
        `^The backup of ${made.made_at} is whole: ${made.files.length} files, ` +
          `.*\n[\\s\\S]*Orders are paused`,
      ),
    )
    await serve()
    assert.equal((await place(body('AFTER-1', 'CSSI'))).error?.code, 'service_unavailable')
    await until(
      async () =>
        ((await json(dir, 'orders', 'reconcile', '--dry-run')) as unknown as { adopted: unknown[] })
          .adopted.length === 2,
      { seconds: 60, every: 2.5 },
    )
    const doubtful = await runProcess(
      dir,
      'orders',
      'reconcile',
      '--since',
      made.made_at,
      '--resume',
    )
    assert.equal(doubtful.status, 1, doubtful.out)
    assert.match(
      doubtful.out,
      new RegExp(
        'AFTER-1[\\s\\S]*LIP +simulator +it lists an order only once it is shipped' +
          '[\\s\\S]*Orders stay paused',
      ),
    )
    assert.equal((await json(dir, 'orders', 'reconcile', '--resume', '--yes'))['resumed'], true)
    for (const [id, distid] of [
      ['AFTER-1', 'CSSI'],
      ['AFTER-2', 'CSSI'],
    ] as const)
      assert.deepEqual(
        await place(body(id, distid)).then(({ status, error }) => [status, error?.code]),
        [409, 'duplicate_order'],
      )
    assert.equal((await place(body('AFTER-3', 'RSR'))).status, 200)
  })
})

describe('modes and enforcement', () => {
  test('a distributor without a connector of its own cannot be live', async () => {
    const { distributors, service } = (await json(dir, 'distributors', 'list')) as unknown as {
      distributors: { distid: string; mode: string; orders: string }[]
      service: string
    }
    assert.equal(service, 'simulator')
    assert.deepEqual(
      distributors
        .filter(({ distid }) => distid === 'RSR' || distid === 'AMC')
        .map(({ distid, mode, orders }) => [distid, mode, orders])
        .sort(),
      [
        ['AMC', 'simulator', 'none'],
        ['RSR', 'simulator', 'live or simulator'],
      ],
    )
    const live = await runProcess(dir, 'distributors', 'live', 'AMC', '--reason', 'we are ready')
    assert.deepEqual([live.status, /AmChar cannot be live/i.test(live.err)], [1, true])
    assert.equal((await run(dir, 'distributors', 'live', 'RSR')).status, 2)
    assert.equal((await run(dir, 'distributors', 'simulate', 'NOPE')).status, 1)
    assert.match(
      (await run(dir, 'distributors', 'simulate', 'RSR')).out,
      /^It stays as it was: orders with RSR Group go to its simulator/,
    )
  })

  test('orders that a rule blocks are refused, unless that was turned off', async () => {
    const rules = join(scratch, 'rules.json')
    writeFileSync(
      rules,
      JSON.stringify([
        {
          rule_id: 'az',
          kind: 'BLOCK',
          legal_status: 'policy',
          customer_message: 'No.',
          scope: { state: ['AZ'] },
        },
      ]),
    )
    await json(dir, 'rules', 'import', rules)
    assert.equal((await place(body('RULED', 'RSR'))).error?.code, 'restricted_destination')
    assert.equal((await run(dir, 'rules', 'enforce', 'off')).status, 2)
    assert.equal((await run(dir, 'rules', 'enforce', 'maybe')).status, 2)
    assert.deepEqual(
      await json(dir, 'rules', 'enforce', 'off', '--reason', 'by hand', '--dry-run'),
      { on: false, before: true, dry_run: true },
    )
    assert.equal((await place(body('RULED', 'RSR'))).error?.code, 'restricted_destination')
    assert.match(
      (await run(dir, 'rules', 'enforce', 'off', '--reason', 'by hand')).out,
      /From now on an order that a rule blocks is placed/,
    )
    assert.equal((await place(body('RULED', 'RSR'))).status, 200)
    assert.deepEqual(await json(dir, 'rules', 'enforce', 'on'), {
      on: true,
      before: false,
      dry_run: false,
    })
  })

  test('are paused by hand, and go on when they are reconciled', async () => {
    const why = 'the warehouse is closed'
    const trial = await json(dir, 'orders', 'pause', '--reason', why, '--dry-run')
    assert.equal((trial['paused'] as unknown as { reason: string }).reason, why)
    await json(dir, 'rules', 'enforce', 'off', '--reason', 'by hand')
    assert.equal((await place(body('OPEN-1', 'RSR'))).status, 200)
    assert.equal((await run(dir, 'orders', 'pause')).status, 2)
    const long = await run(dir, 'orders', 'pause', '--reason', 'x'.repeat(201))
    assert.match(long.err, /^invalid_parameter: reason: say why, in 1 to 200 characters/)
    const early = await run(
      dir,
      'orders',
      'pause',
      '--reason',
      why,
      '--forgotten-since',
      '2999-01-01',
    )
    assert.match(early.err, /^invalid_parameter: forgotten_since: lies in the future/)
    const { out } = await run(dir, 'orders', 'pause', '--reason', 'x'.repeat(200))
    assert.match(out, /^Orders are paused: x+\. `orders reconcile --resume` lets them go on\.\n$/)
    assert.equal((await place(body('CLOSED-1', 'RSR'))).error?.code, 'service_unavailable')
    assert.equal((await json(dir, 'orders', 'reconcile', '--resume', '--yes'))['resumed'], true)
    assert.equal((await place(body('CLOSED-1', 'RSR'))).status, 200)
  })
})
