/** What the operator is told of feeds. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { runLine } from '../../server/cli/run-line.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { ACME, acmeFeed, bench } from './bench.js'
import { pattern } from '../harness/pattern.js'

const HEADER = 'itemnumber,desc1,upc,price1,available,mapprice,serialized'

/**
 * A Zanders feed of 40 items at $100; `low` of them have a MAP that is not above the price, the
 * others one that is.
 */
function zanders(low: number): string {
  return (
    [
      HEADER,
      ...Array.from(
        { length: 40 },
        (_, i) => `Z${i},Item ${i},${700000000000 + i},100.00,5,${i < low ? '100.00' : '100.01'},N`,
      ),
    ].join('\n') + '\n'
  )
}

async function take(t: TestApp, text: string, more: { subscriber?: string } = {}): Promise<void> {
  const file = join(t.app.ctx.engine.dir, 'zanders.csv')
  writeFileSync(file, text)
  const result = await t.app.operator.feeds.import(
    { distid: 'ZND', file, ...more },
    { asOf: t.app.ctx.now(), force: true },
  )
  assert.equal(result.outcome, 'taken', result.reasons.join())
}

const ENTRY = {
  active: true,
  distid: 'ZND',
  drop_ship_only_items: false,
  shipping: { flat_rate: { cost: 10, shipping_class: 'a' } },
  product_restrictions: { min_quantity_to_list: 1 },
}
const DOCUMENT = {
  distributors: { Zanders: ENTRY },
  targets: {},
  notification_email: 'a@shop.example',
  pricing: {},
  product_restrictions: {},
}

const WARNING =
  'the feed ZND/zanders has 21 of 40 MAPs that are not above its own regular price; they do ' +
  'not count as MAP, so look at what its MAP column holds'

describe('a feed whose MAPs are not above its regular prices', () => {
  const warnings = async (t: TestApp) => [
    (await t.app.operator.feeds.status()).flatMap((source) => source.warnings),
    (
      (await t.json('/v1/config/validate', { method: 'POST', body: '{}' })).body.data
        .warnings as string[]
    ).filter((text) => text.includes('MAP')),
  ]

  test('more than half of them: said by status and by validate, until a better feed comes', async () => {
    await using t = await createTestApp()
    await t.save(t.subscriber, DOCUMENT as never)
    await take(t, zanders(21))
    assert.deepEqual(await warnings(t), [[WARNING], [WARNING]])
    await take(t, zanders(20))
    assert.deepEqual(await warnings(t), [[], []])
    await t.save(t.subscriber, {
      ...DOCUMENT,
      distributors: { Zanders: { ...ENTRY, active: false } },
    } as never)
    await take(t, zanders(21))
    assert.deepEqual(await warnings(t), [[WARNING], []])
  })

  test("one subscriber's own feed is not a matter of another", async () => {
    await using t = await createTestApp()
    await t.save(t.subscriber, DOCUMENT as never)
    const other = await t.app.operator.subscribers.create({
      name: 'Other',
      email: 'other@shop.example',
    })
    await take(t, zanders(40), { subscriber: other.id })
    const [status, validate] = await warnings(t)
    assert.equal(status!.length, 1)
    assert.deepEqual(validate, [])
  })
})

const scratch = mkdtempSync(join(tmpdir(), 'qm-feed-commands-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** Runs one line on a terminal of so many columns; 0 is a pipe. */
async function run(
  columns: number,
  ...argv: string[]
): Promise<{ status: number; out: string; err: string; json: Record<string, never> }> {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { isTTY: columns > 0, columns }
  const status = await runLine(argv, {
    stdout: { ...terminal, write: (text) => out.push(text) },
    stderr: { ...terminal, write: (text) => err.push(text) },
  })
  return {
    status,
    out: out.join(''),
    err: err.join(''),
    json: argv.includes('--json') ? (JSON.parse(out.at(-1)!) as Record<string, never>) : {},
  }
}

const file = (name: string, text: string) => {
  writeFileSync(join(scratch, name), text)
  return join(scratch, name)
}
const NOWHERE = join(scratch, 'no-installation')
const fits = (text: string, columns: number) => {
  for (const line of text.split('\n')) assert.ok(line.length <= columns, `${line.length}: ${line}`)
}

const DAVIDSONS =
  'Item #,Item Description,MSP,Retail Price,Dealer Price,Sale Price,Sale Ends,Quantity,UPC ' +
  'Code,Manufacturer,Gun Type,Model Series,Caliber,Action,Capacity,Finish,Stock,Sights,Barrel ' +
  'Length,Overall Length,Features'
/** A Davidson's feed of 40 pistols; `type` says what they are. */
const davidsons = (type = 'Pistol: Semi-Auto', price = '$399.99') =>
  [
    DAVIDSONS,
    ...Array.from(
      { length: 40 },
      (_, i) =>
        `D${i},ACME PISTOL ${i},$399.99,$599.99,${price},,,7,#${700000000000 + i}#,Acme ` +
        `Arms,${type},P1,9MM,Striker Fired,15+1,Black,Polymer,Night ` +
        `sights,4,7,${'Words of it. '.repeat(20)}`,
    ),
  ].join('\n') + '\n'

describe('feeds check', () => {
  test('understands a preset, a distid and a name, whatever their case', async () => {
    const path = file('dav.csv', davidsons())
    for (const word of ['davidsons', 'dav', 'DAV', 'Davidsons', "Davidson's"]) {
      const { status, json } = await run(
        0,
        'feeds',
        'check',
        word,
        path,
        '--dir',
        NOWHERE,
        '--json',
      )
      assert.deepEqual([status, json['preset'], json['distid']], [0, 'davidsons', 'DAV'], word)
    }
    const unknown = await run(0, 'feeds', 'check', 'nobody', path, '--dir', NOWHERE)
    assert.equal(unknown.status, 2)
    assert.match(
      unknown.err,
      /there is no preset "nobody"; known are bill-hicks, bill-hicks-quantity, chattanooga, davidsons/,
    )
  })

  test("shows dollars, the contract's names, attributes written out, and no line beyond the terminal", async () => {
    const path = file('dav.csv', davidsons())
    const { json } = await run(0, 'feeds', 'check', 'dav', path, '--dir', NOWHERE, '--json')
    const [offer] = json['offers'] as unknown as Record<string, unknown>[]
    assert.deepEqual(
      [
        offer!['unit_price'],
        offer!['map_price'],
        offer!['msrp'],
        offer!['qty_on_hand'],
        offer!['ffl_req'],
        offer!['drop_ship_flg'],
        offer!['images'],
      ],
      [399.99, null, 599.99, 7, 1, 1, []],
    )
    for (const columns of [80, 100, 132]) {
      const { out } = await run(columns, 'feeds', 'check', 'dav', path, '--dir', NOWHERE)
      fits(out, columns)
      assert.match(out, /unit_price 399\.99/)
      assert.match(
        out.replaceAll(/\s+/g, ' '),
        pattern(
          /attributes Type=Pistol: Semi-Auto, Model=P1, Caliber\/Gauge=9MM, Action=Striker Fired, /,
          /Capacity=15\+1, Finish=Black, Stock=Polymer, Sights=Night sights, Barrel Length=4, /,
          /Overall Length=7/,
        ),
      )
      assert.match(out, /description Words of it\. .*…$/m)
      assert.equal(out.match(/^stockid /gm)!.length, 20)
    }
  })

  test('names the preset that a file is for, and ends with 1', async () => {
    const pricing = file(
      'lip.csv',
      'itemNumber,upc,mfgModelNumber,quantity,allocated,onSale,price,currentPrice,' +
        'retailMap\nAC1,082442884752,ONE-9,12,False,False,420.0,399.5,0.0\n',
    )
    const wrong = await run(80, 'feeds', 'check', 'Lipseys', pricing, '--dir', NOWHERE)
    assert.equal(wrong.status, 1)
    assert.ok(
      wrong.out.includes(
        `It reads better with the preset lipseys-pricing:\n  quartermaster feeds import LIP ` +
          `${pricing} --preset lipseys-pricing\n`,
      ),
      wrong.out,
    )
    const right = await run(
      0,
      'feeds',
      'check',
      'lipseys-pricing',
      pricing,
      '--dir',
      NOWHERE,
      '--json',
    )
    assert.deepEqual([right.status, right.json['better_preset']], [0, null])
    for (const [text, expected] of [
      ['A,0000005\nB,0000006\n', 'rsr-quantity'],
      ['Item_Number,UPC_Code,Quantity_NC,Quantity_AZ\nA,,1,2\n', 'davidsons-quantity'],
      ['upc,msrp,price1,available\n034337000013,38.98,22.66,0\n', 'zanders'],
      ['<html></html>\n', null],
      ['', null],
    ] as const) {
      const { status, json } = await run(
        0,
        'feeds',
        'check',
        'davidsons',
        file('other.csv', text),
        '--dir',
        NOWHERE,
        '--json',
      )
      assert.deepEqual([status, json['better_preset']], [1, expected], text)
    }
  })

  test('without an installation it judges a first feed, as import would', async () => {
    const bad = file('bad.csv', davidsons().replace('$399.99,,,7,', 'call,,,7,'))
    const refused = await run(80, 'feeds', 'check', 'dav', bad, '--dir', NOWHERE)
    assert.equal(refused.status, 1)
    assert.match(
      refused.out,
      /Import would refuse it:\n- 1 of 40 rows are bad \(2\.5 %; at most 1 % may be\)/,
    )
    assert.match(
      (await run(80, 'feeds', 'check', 'dav', file('dav.csv', davidsons()), '--dir', NOWHERE)).out,
      /Import would take it as a first feed\./,
    )
  })

  test('beside an installation it says what import then does, and changes nothing', async () => {
    const dir = join(scratch, 'shop')
    assert.equal((await run(0, 'init', '--dir', dir)).status, 0)
    const verdict = async (text: string) => {
      const path = file('next.csv', text)
      const status = async () => (await run(0, 'feeds', 'status', '--dir', dir, '--json')).json
      const before = await status()
      const checked = await run(80, 'feeds', 'check', 'DAV', path, '--dir', dir)
      assert.deepEqual(await status(), before)
      const imported = await run(80, 'feeds', 'import', 'dav', path, '--dir', dir)
      assert.equal(checked.status, imported.status, `${checked.out}\n${imported.out}`)
      fits(checked.out + imported.out, 80)
      return checked.out.slice(checked.out.indexOf('40 rows read')).replaceAll(/\s+/g, ' ')
    }
    assert.match(
      await verdict(davidsons()),
      pattern(
        /^40 rows read with davidsons \(DAV\), 0 rejected\. /,
        /Import would take it into DAV\/davidsons: 40 added, 0 changed, 0 removed\. $/,
      ),
    )
    assert.match(
      await verdict(davidsons()),
      /Import would change nothing: DAV\/davidsons has this file already\./,
    )
    assert.match(await verdict(davidsons(undefined, '$400.00')), /0 added, 40 changed, 0 removed\./)
    assert.match(
      await verdict(davidsons('', '$400.00')),
      /Import would refuse it: .*class FA has 0 of 40 offers \(0\.0 %\), in the last feed 40 of 40 offers \(100\.0 %\)/,
    )
    assert.equal((await run(0, 'feeds', 'accept', 'Davidsons', '--dir', dir)).status, 0)
  })
})

describe('feeds status', () => {
  test("fits 100 columns, with refusals, warnings, failed pulls and a shop's own source", async () => {
    const dir = join(scratch, 'status')
    await run(0, 'init', '--dir', dir)
    await run(
      0,
      'subscribers',
      'create',
      '--name',
      'Main Street Guns',
      '--email',
      'a@shop.example',
      '--dir',
      dir,
    )
    await run(0, 'feeds', 'import', 'dav', file('a.csv', davidsons()), '--dir', dir)
    await run(0, 'feeds', 'import', 'dav', file('b.csv', davidsons('')), '--dir', dir)
    await run(0, 'feeds', 'import', 'Zanders', file('z.csv', zanders(40)), '--dir', dir)
    const location = file(`${'missing-'.repeat(12)}.csv`, 'gone by the time of the pull')
    await run(
      0,
      'feeds',
      'set',
      'DAV',
      location,
      '--preset',
      'davidsons-quantity',
      '--subscriber',
      'Main Street Guns',
      '--dir',
      dir,
    )
    rmSync(location)
    assert.equal((await run(0, 'feeds', 'pull', 'dav', '--dir', dir)).status, 1)
    for (const columns of [100, 0]) {
      const { out } = await run(columns, 'feeds', 'status', '--dir', dir)
      fits(out, 100)
      assert.match(out, /^source +offers +rejected +as of \(UTC\) +every\n/)
      assert.match(
        out,
        pattern(
          /^DAV\/davidsons +40 +0 +\d{4}-\d\d-\d\d \d\d:\d\d +-\n/m,
          / {2}waits for `feeds accept` since .*:\n {2}- "Gun Type" is filled in 0 of 40 offers/,
        ),
      )
      assert.match(
        out,
        /^DAV\/davidsons-quantity\/s_[0-9a-f]{16} .* 20 m\n {2}last pull .*: failed:\n/m,
      )
      assert.match(out, /^ {2}warning: the feed ZND\/zanders has 40 of 40 MAPs/m)
    }
  })
})

describe('progress of an import', () => {
  test('is told every 2,000 rows, and never goes back', () =>
    bench(async (feeds) => {
      const seen: number[] = []
      let size = 0
      await feeds.take(ACME, acmeFeed(20_000), {
        onProgress: (done: number, total: number) => {
          seen.push(done)
          size = total
        },
      })
      assert.ok(seen.length >= 10, String(seen.length))
      assert.deepEqual(
        seen,
        [...seen].sort((a, b) => a - b),
      )
      assert.equal(seen.at(-1), size)
    }))

  test('is drawn on a terminal, and not in a pipe', async () => {
    const dir = join(scratch, 'progress')
    await run(0, 'init', '--dir', dir)
    const path = file('p.csv', davidsons())
    assert.match(
      (await run(80, 'feeds', 'import', 'DAV', path, '--dir', dir, '--dry-run')).err,
      /^\rDAV \[/,
    )
    assert.equal((await run(0, 'feeds', 'import', 'DAV', path, '--dir', dir, '--dry-run')).err, '')
  })
})
