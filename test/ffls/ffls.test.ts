import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { DAY, HOUR } from '../../lib/core/clock.js'
import { writeKeyFile } from '../../lib/core/storage/secrets.js'
import { touch } from '../../lib/db/state.js'
import { arrange } from '../../lib/ffls/directory.js'
import {
  MAX_DOCUMENT,
  documentAccess,
  documentType,
  documentUrl,
  removeDocument,
  storeDocument,
} from '../../lib/ffls/documents.js'
import { expiryDate, parseLicense } from '../../lib/ffls/license.js'
import { nearDealers } from '../../lib/ffls/near.js'
import { countyOf } from '../../lib/places/counties.js'
import { STATES, isMilitary, isTerritory } from '../../lib/places/states.js'
import { chordMiles, milesChord, placeOfZip, unitVector } from '../../lib/places/zips.js'
import { addDemoDealers, makeDemoDealers } from '../../lib/simulator/market/dealers.js'
import { prepareDemo } from '../../lib/app/demo.js'
import type { DemoDealer } from '../../lib/simulator/market/dealers.js'
import { heardByOthers, oneFolder, runsOnRecord, sqlOnRecord } from '../harness/record.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { json, run } from '../server/launcher.js'
import { addOrder } from '../orders/rows.js'
import { cpuTime } from '../harness/cpu-time.js'

type TestDealer = Partial<DemoDealer> & { license_number: string; premise_zip: string }

/** A dealer in Nashville, valid until 2028, unless told otherwise. */
function dealerRow(dealer: TestDealer): DemoDealer {
  return {
    id: parseLicense(dealer.license_number)!.id,
    license_type: '01',
    expires_on: '2028-05-01',
    valid_until: null,
    license_name: 'DOE, JANE',
    business_name: null,
    premise_street: '1 MADE UP PIKE',
    premise_city: 'NASHVILLE',
    premise_state: 'TN',
    mail_street: null,
    mail_city: null,
    mail_state: null,
    mail_zip: null,
    voice_phone: null,
    email: null,
    fee_longgun: null,
    fee_handgun: null,
    residential: 0,
    contact_required: 0,
    marked_on_file: 0,
    sot_on_file: 0,
    listed: 1,
    source: 'atf',
    updated_at: 0,
    ...dealer,
  }
}

/** Puts these dealers in the place of all others. */
async function list(
  t: TestApp,
  dealers: readonly TestDealer[],
  onFile: readonly string[] = [],
): Promise<void> {
  await t.app.ctx.engine.atomic(t.app.ctx, async ({ db }) => {
    await db.deleteFrom('dealer').execute()
    await db.deleteFrom('dealer_on_file').execute()
    const rows = dealers.map(dealerRow)
    for (let at = 0; at < rows.length; at += 500)
      await db
        .insertInto('dealer')
        .values(rows.slice(at, at + 500))
        .execute()
    if (onFile.length > 0)
      await db
        .insertInto('dealer_on_file')
        .values(onFile.map((license) => ({ distid: 'RSR', dealer_id: parseLicense(license)!.id })))
        .execute()
    await touch(db, 'dealers')
  })
}

/** `n` of region 1, district 62: the larger the later in the order of numbers. */
const license = (n: number, code = '8E') => `1-62-037-01-${code}-${String(n).padStart(5, '0')}`
const numbers = (answer: { ffls: { license_number: string }[] }) =>
  answer.ffls.map(({ license_number }) => Number(license_number.slice(-5)))

/**
 * In Nashville: 37203 and, nearest first, 37212 (2 miles), 37204, 37206, 37076 (10 miles); 37040 is
 * 40 miles away, 38103 is Memphis.
 */
const NASHVILLE: TestDealer[] = [
  { license_number: license(1), premise_zip: '37203', business_name: 'Music Row Arms & Tackle' },
  { license_number: license(2), premise_zip: '37203-1234', marked_on_file: 1 },
  { license_number: license(3), premise_zip: '37212' },
  { license_number: license(4), premise_zip: '37076' },
  { license_number: license(5), premise_zip: '37076', license_name: "O'BRIEN & SONS, LTD." },
  { license_number: license(6), premise_zip: '38103' },
  { license_number: license(7), premise_zip: '37203' },
  { license_number: license(8), premise_zip: '37040' },
]

describe('dealers near a ZIP', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    await list(t, NASHVILLE, [license(5), license(7), license(2)])
  })
  after(() => t.close())

  test('on file in the ZIP first, then on file nearby, then others in the ZIP, then others by distance', async () => {
    for (const shop of [t.shop, t.remote]) {
      const near = await shop.ffls.near({ zip: '37203' })
      assert.deepEqual(numbers(near), [2, 7, 5, 1, 3, 4])
      assert.equal(near.count, 6)
      assert.deepEqual(
        near.ffls.map(({ ffl_on_file }) => ffl_on_file),
        [1, 1, 1, 0, 0, 0],
      )
      assert.deepEqual(
        numbers(await shop.ffls.near({ zip: '37203', radius: 50 })),
        [2, 7, 5, 1, 3, 4, 8],
      )
      assert.deepEqual(numbers(await shop.ffls.near({ zip: '37203', radius: 1 })), [2, 7, 1])
    }
  })

  test('show the record of the contract', async () => {
    const {
      ffls: [dealer],
    } = await t.remote.ffls.near({ zip: '37203', name: 'row arms' })
    const { lat, lng } = placeOfZip('37203')!
    assert.deepEqual(dealer, {
      license_number: license(1),
      list_name: 'Music Row Arms & Tackle',
      business_name: 'Music Row Arms & Tackle',
      license_name: 'DOE, JANE',
      premise_street: '1 MADE UP PIKE',
      premise_city: 'NASHVILLE',
      premise_state: 'TN',
      premise_zip_code: '37203',
      voice_phone: null,
      email: null,
      lat,
      lng,
      ffl_on_file: 0,
      sot_on_file: 0,
      expiration_date: '2028-05-01',
      active: 1,
    })
  })

  test('by a part of either name, case aside; nothing in it is special', async () => {
    const named = async (name: string) =>
      numbers(await t.remote.ffls.near({ zip: '37203', radius: 50, name }))
    assert.deepEqual(await named('MUSIC row'), [1])
    assert.deepEqual(await named('arms & t'), [1])
    assert.deepEqual(await named("o'brien & sons"), [5])
    assert.deepEqual(await named('LTD.'), [5])
    assert.deepEqual(await named('doe jane'), [])
    assert.deepEqual(await named('tackle doe'), [], 'a name does not go on in the other')
    assert.deepEqual(await named('.'), [5])
    assert.deepEqual(await named(''), [2, 7, 5, 1, 3, 4, 8])
    assert.deepEqual(await named('x'.repeat(60)), [])
  })

  const bad: [query: string, path: string][] = [
    ['', 'zip'],
    ['zip=', 'zip'],
    ['zip=3720', 'zip'],
    ['zip=372033', 'zip'],
    ['zip=3720A', 'zip'],
    ['zip=37203-1234', 'zip'],
    ['zip=%2037203', 'zip'],
    ['zip=37203%0A', 'zip'],
    ['zip=%D9%A3%D9%A7%D9%A2%D9%A0%D9%A3', 'zip'],
    ['zip=37203&zip=37203', 'zip'],
    ['zip=37203&radius=0', 'radius'],
    ['zip=37203&radius=51', 'radius'],
    ['zip=37203&radius=-1', 'radius'],
    ['zip=37203&radius=1.5', 'radius'],
    ['zip=37203&radius=', 'radius'],
    ['zip=37203&radius=ten', 'radius'],
    ['zip=37203&radius=1e999', 'radius'],
    [`zip=37203&name=${'x'.repeat(61)}`, 'name'],
    ['zip=37203&name=%25', 'name'],
    ['zip=37203&name=%22gun%22', 'name'],
    ['zip=37203&name=a_b', 'name'],
    ['zip=37203&name=a;b', 'name'],
    ['zip=37203&name=%00', 'name'],
    ['zip=37203&name=a%0Ab', 'name'],
    ['zip=37203&name=a&name=b', 'name'],
  ]
  for (const [query, path] of bad) {
    test(`${query.slice(0, 40) || 'no ZIP'} is 400 and names ${path}`, async () => {
      const { status, body } = await t.json(`/v1/ffls?${query}`)
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', path],
      )
    })
  }

  for (const query of [
    'zip=37203&radius=1',
    'zip=37203&radius=50',
    `zip=37203&name=${'x'.repeat(60)}`,
    'zip=37203&name=caf%C3%A9',
    'zip=37203&name=a%20b%27c%26d.e-f',
    'zip=37203&other=1',
    'zip=37203&radius=05',
  ]) {
    test(`${query.slice(0, 40)} is taken`, async () =>
      assert.equal((await t.request(`/v1/ffls?${query}`)).status, 200))
  }

  test('all faults are told at once', async () => {
    const { body } = await t.json('/v1/ffls?zip=1&radius=99&name=%25')
    assert.deepEqual(body.error.details.map(({ path }: { path: string }) => path).sort(), [
      'name',
      'radius',
      'zip',
    ])
    await assert.rejects(t.shop.ffls.near({ zip: 37203 as unknown as string }), {
      code: 'invalid_parameter',
    })
    await assert.rejects(t.shop.ffls.near({ zip: '37203', radius: 51 }), {
      code: 'invalid_parameter',
    })
  })

  test('at most 150', async () => {
    await using other = await createTestApp()
    await list(
      other,
      Array.from({ length: 200 }, (_, i) => ({
        license_number: license(i),
        premise_zip: i < 100 ? '37212' : '37203',
        marked_on_file: i % 2,
      })),
    )
    const { count, ffls } = await other.remote.ffls.near({ zip: '37203' })
    assert.deepEqual([count, ffls.length], [150, 150])
    assert.deepEqual(
      numbers({ ffls }).slice(0, 50),
      Array.from({ length: 50 }, (_, i) => 101 + 2 * i),
    )
    assert.deepEqual(
      numbers({ ffls }).slice(-50),
      Array.from({ length: 50 }, (_, i) => 100 + 2 * i),
    )
  })

  test('a ZIP that nobody knows has the dealers of exactly that ZIP, or none', async () => {
    await using other = await createTestApp()
    await list(other, [
      { license_number: license(1), premise_zip: '09128' },
      { license_number: license(2), premise_zip: '09129' },
      { license_number: license(3), premise_zip: '37203' },
      { license_number: license(4), premise_zip: 'N/A' },
    ])
    assert.equal(placeOfZip('09128'), null)
    const near = await other.remote.ffls.near({ zip: '09128', radius: 50 })
    assert.deepEqual([numbers(near), near.ffls[0]!.lat, near.ffls[0]!.lng], [[1], null, null])
    assert.deepEqual(await other.remote.ffls.near({ zip: '09130' }), { count: 0, ffls: [] })
    assert.deepEqual(await other.remote.ffls.near({ zip: '00000' }), { count: 0, ffls: [] })
    assert.deepEqual(numbers(await other.remote.ffls.near({ zip: '37203' })), [3])
  })

  test('a ZIP without an area of its own stands where its neighbour does, and is still another ZIP', async () => {
    await using other = await createTestApp()
    assert.equal(placeOfZip('37202')!.exact, false)
    const twin = placeOfZip('37202')!
    const neighbour = ['37201', '37203'].find((zip) => placeOfZip(zip)!.lat === twin.lat)!
    await list(other, [
      { license_number: license(1), premise_zip: neighbour },
      { license_number: license(2), premise_zip: '37202' },
      { license_number: license(3), premise_zip: neighbour },
    ])
    assert.deepEqual(numbers(await other.remote.ffls.near({ zip: '37202', radius: 1 })), [2, 1, 3])
    assert.deepEqual(
      numbers(await other.remote.ffls.near({ zip: neighbour, radius: 1 })),
      [1, 3, 2],
    )
  })
})

describe('a dealer leaves the list', () => {
  test('after the last day of the license, or of what the operator says, and when it is listed no more', async () => {
    await using t = await createTestApp()
    await list(t, [
      { license_number: license(1), premise_zip: '37203', expires_on: '2026-11-21' },
      { license_number: license(2), premise_zip: '37203', expires_on: '2026-11-20' },
      {
        license_number: license(3),
        premise_zip: '37203',
        expires_on: '2026-01-01',
        valid_until: '2026-11-22',
      },
      { license_number: license(4), premise_zip: '37203', listed: 0 },
      {
        license_number: license(5),
        premise_zip: '37203',
        expires_on: '2026-12-01',
        valid_until: '2026-11-01',
      },
    ])
    assert.deepEqual(numbers(await t.remote.ffls.near({ zip: '37203' })), [1, 3, 5])
    for (const [n, active] of [
      [1, 1],
      [2, 0],
      [3, 1],
      [4, 0],
      [5, 1],
    ] as const)
      assert.equal((await t.remote.ffls.get({ license_number: license(n) })).active, active)
    t.clock.advance(12 * HOUR - 1)
    assert.deepEqual(numbers(await t.remote.ffls.near({ zip: '37203' })), [1, 3, 5])
    t.clock.advance(1)
    const near = await t.remote.ffls.near({ zip: '37203' })
    assert.deepEqual(numbers(near), [3, 5])
    assert.deepEqual(
      near.ffls.map(({ expiration_date }) => expiration_date),
      ['2026-11-22', '2026-12-01'],
    )
    t.clock.advance(DAY)
    assert.deepEqual(numbers(await t.remote.ffls.near({ zip: '37203' })), [5])
    // The lookup still has all of them.
    for (const [n, active] of [
      [1, 0],
      [2, 0],
      [3, 0],
      [4, 0],
      [5, 1],
    ] as const)
      assert.equal((await t.remote.ffls.get({ license_number: license(n) })).active, active)
  })
})

describe('the directory', () => {
  test('is what the last change made of it, also one of another process', async () => {
    await using t = await createTestApp()
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    assert.deepEqual(numbers(await t.remote.ffls.near({ zip: '37203' })), [1])
    await list(t, [{ license_number: license(2), premise_zip: '37203' }])
    assert.deepEqual(numbers(await t.remote.ffls.near({ zip: '37203' })), [2])
    const near = () => t.remote.ffls.near({ zip: '37203' })
    await commit(t, "INSERT INTO dealer_on_file VALUES ('LIP', '1-62-00002')")
    await heardByOthers(async () => (await near()).ffls[0]!.ffl_on_file === 1)
    assert.equal((await near()).ffls[0]!.ffl_on_file, 1)
    await commit(t, 'UPDATE dealer SET listed = 0')
    await heardByOthers(async () => (await near()).count === 0)
    assert.equal((await near()).count, 0)
  })

  /** 9,000 dealers, 90 of them in 37203; loaded. */
  async function large(): Promise<TestApp> {
    const t = await createTestApp()
    await list(
      t,
      Array.from({ length: 9_000 }, (_, i) => ({
        license_number: license(i),
        premise_zip: i % 100 === 0 ? '37203' : '38103',
      })),
    )
    return t
  }

  /** A change by another process; in one folder it is made when this returns. */
  const commit = (t: TestApp, sql: string) =>
    sqlOnRecord(
      t.app.dir,
      `BEGIN; ${sql}; UPDATE state SET value = value + 1 WHERE name = 'dealers'; COMMIT`,
    )

  const here = async (t: TestApp) => (await t.shop.ffls.near({ zip: '37203', radius: 1 })).count
  const waited = (ms: number) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms)
    })

  test(
    'is loaded in steps, and a change within a load is seen by whoever waits for it',
    { skip: oneFolder },
    async () => {
      await using t = await large()
      const before = here(t)
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      void commit(t, "UPDATE dealer SET listed = 0 WHERE premise_zip = '37203' AND row % 200 > 100")
      await t.app.ctx.dealers.refresh()
      const gone = t.app.ctx.engine.reader.raw
        .prepare('SELECT count(*) FROM dealer WHERE listed = 0')
        .pluck()
        .get() as number
      assert.equal(await here(t), 90 - gone)
      assert.ok((await before) <= 90)
      assert.equal((await t.shop.ffls.near({ zip: '38103', radius: 1 })).count, 150)
    },
  )

  test(
    'of many dealers serves on while a new one is loaded, and is the new one within a second',
    { skip: oneFolder },
    async () => {
      await using t = await large()
      assert.equal(await here(t), 90)
      const kept = await t.app.ctx.dealers.current()
      void commit(
        t,
        "UPDATE dealer SET premise_zip = '37203' WHERE license_number = '1-62-037-01-8E-00001'",
      )
      t.app.ctx.engine.lookAgain()
      assert.equal(await t.app.ctx.dealers.current(), kept)
      await waited(1_000)
      assert.equal(await here(t), 91)
      await commit(
        t,
        "UPDATE dealer SET premise_zip = '37203' WHERE license_number = '1-62-037-01-8E-00002'",
      )
      await waited(1_000)
      assert.notEqual(await t.app.ctx.dealers.current(), kept)
      assert.equal(await here(t), 92)
    },
  )

  test(
    'of many dealers shows nobody who has gone, however old it is',
    { skip: oneFolder },
    async () => {
      await using t = await large()
      const kept = await t.app.ctx.dealers.current()
      void commit(t, "UPDATE dealer SET listed = 0 WHERE license_number = '1-62-037-01-8E-00000'")
      t.app.ctx.engine.lookAgain()
      const [count, directory] = [here(t), t.app.ctx.dealers.current()]
      assert.deepEqual([await count, (await directory) === kept], [89, true])
    },
  )

  test('of many dealers shows what the operator does in the same process at once', async () => {
    await using t = await large()
    assert.equal(await here(t), 90)
    await t.app.operator.ffls.set('1-62-00100', { on_file: true })
    const { ffls } = await t.shop.ffls.near({ zip: '37203', radius: 1 })
    assert.deepEqual([ffls[0]!.license_number, ffls[0]!.ffl_on_file], [license(100), 1])
    await t.app.operator.ffls.add({
      license_number: license(9_999),
      name: 'Own',
      street: '1 Pike',
      city: 'Nashville',
      state: 'TN',
      zip: '37203',
      reason: 'license seen',
    })
    assert.equal(await here(t), 91)
  })

  test('two apps in one process have a directory each', async () => {
    await using one = await createTestApp()
    await using two = await createTestApp()
    await list(one, [{ license_number: license(1), premise_zip: '37203' }])
    await list(two, [{ license_number: license(2), premise_zip: '37203' }])
    assert.deepEqual(
      [
        numbers(await one.remote.ffls.near({ zip: '37203' })),
        numbers(await two.remote.ffls.near({ zip: '37203' })),
      ],
      [[1], [2]],
    )
  })
})

/** The rules of the list once more, in the plainest way. */
function plainly(
  dealers: readonly DemoDealer[],
  onFile: ReadonlySet<string>,
  { zip, radius, name, today }: { zip: string; radius: number; name: string; today: string },
): string[] {
  const vector = (text: string) => {
    const place = placeOfZip(text)
    return place && unitVector(place.lat, place.lng)
  }
  const from = vector(zip)
  const rank = (dealer: DemoDealer) => {
    const at = vector(dealer.premise_zip)
    const isHome = dealer.premise_zip.slice(0, 5) === zip
    const squared =
      from && at ? from.reduce((sum, part, i) => sum + (part - at[i]!) ** 2, 0) : Infinity
    return {
      dealer,
      isHome,
      squared,
      isOnFile: dealer.marked_on_file === 1 || onFile.has(dealer.id),
    }
  }
  const last = ({ expires_on, valid_until }: DemoDealer) =>
    [expires_on, valid_until ?? ''].sort().at(-1)!
  return dealers
    .filter((dealer) => dealer.listed === 1 && last(dealer) >= today)
    .filter(({ business_name, license_name }) =>
      [business_name ?? '', license_name].some((text) =>
        text.toLowerCase().includes(name.toLowerCase()),
      ),
    )
    .map(rank)
    .filter(({ isHome, squared }) => isHome || squared <= milesChord(radius))
    .sort(
      (a, b) =>
        Number(b.isOnFile) - Number(a.isOnFile) ||
        Number(b.isHome) - Number(a.isHome) ||
        (a.isHome ? 0 : a.squared - b.squared) ||
        (a.dealer.license_number < b.dealer.license_number ? -1 : 1),
    )
    .slice(0, 150)
    .map(({ dealer }) => dealer.license_number)
}

/** The point so many miles from another, in a direction: 0 is north. */
function pointBeside(
  { lat, lng }: { lat: number; lng: number },
  bearing: number,
  miles: number,
): { lat: number; lng: number } {
  const [radians, angle] = [Math.PI / 180, 2 * Math.asin(Math.sqrt(milesChord(miles)) / 2)]
  const sine =
    Math.sin(lat * radians) * Math.cos(angle) +
    Math.cos(lat * radians) * Math.sin(angle) * Math.cos(bearing)
  const turned = Math.atan2(
    Math.sin(bearing) * Math.sin(angle) * Math.cos(lat * radians),
    Math.cos(angle) - Math.sin(lat * radians) * sine,
  )
  return {
    lat: Math.asin(Math.max(-1, Math.min(1, sine))) / radians,
    lng: ((lng + turned / radians + 540) % 360) - 180,
  }
}

describe('the order of the list', () => {
  test('is that of a plain loop, whatever the dealers', async () => {
    await using t = await createTestApp()
    // Nashville and around, ZIPs without an area, New York, Alaska, Guam, military mail.
    const zips = fc.constantFrom(
      '37203',
      '37202',
      '37201',
      '37212',
      '37204',
      '37206',
      '37076',
      '37040',
      '37203-0001',
      '372039999',
      '37221',
      '37230',
      '37064',
      '38103',
      '10001',
      '10118',
      '07030',
      '99501',
      '99546',
      '96910',
      '09128',
      '',
    )
    const dealer = fc.record({
      premise_zip: zips,
      marked_on_file: fc.constantFrom(0, 0, 1),
      listed: fc.constantFrom(1, 1, 1, 0),
      business_name: fc.constantFrom(null, 'Acme Guns', 'ACME PAWN'),
      license_name: fc.constantFrom('DOE, J', 'ACME LLC'),
      expires_on: fc.constantFrom('2026-11-20', '2026-11-21', '2028-01-01'),
      valid_until: fc.constantFrom(null, '2026-11-20', '2026-11-21', '2027-01-01'),
      listedByRsr: fc.boolean(),
      county: fc.integer({ min: 1, max: 999 }),
    })
    const query = fc.record({
      zip: zips.filter((zip) => /^\d{5}$/.test(zip)),
      radius: fc.constantFrom(1, 2, 5, 15, 40, 50),
      name: fc.constantFrom('', '', 'acme', 'PAWN', 'Doe.'),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(dealer, { maxLength: 60 }),
        fc.array(query, { minLength: 3, maxLength: 3 }),
        async (made, queries) => {
          const dealers = made.map(({ listedByRsr: _listed, county, ...rest }, i) =>
            dealerRow({
              ...rest,
              license_number: `1-62-${String(county).padStart(3, '0')}-01-8E-${String(i).padStart(5, '0')}`,
            }),
          )
          const onFile = dealers.filter((_, i) => made[i]!.listedByRsr)
          await list(
            t,
            dealers,
            onFile.map(({ license_number }) => license_number),
          )
          for (const one of queries) {
            const { ffls } = await t.shop.ffls.near(one)
            assert.deepEqual(
              ffls.map(({ license_number }) => license_number),
              plainly(dealers, new Set(onFile.map(({ id }) => id)), {
                ...one,
                today: '2026-11-21',
              }),
            )
          }
        },
      ),
      { numRuns: runsOnRecord(60) },
    )
  })

  test('finds every place within the radius and no other, anywhere on the sphere', async () => {
    const point = fc.record({
      lat: fc.oneof(
        fc.double({ min: -90, max: 90, noNaN: true }),
        fc.double({ min: 89, max: 90, noNaN: true }),
      ),
      lng: fc.oneof(
        fc.double({ min: -180, max: 180, noNaN: true }),
        fc.constantFrom(-180, 180, 179.9, -179.9),
      ),
    })
    // In any direction, as a share of the radius: well inside, well outside, and hardly the one or
    // the other.
    const bearing = fc.oneof(
      fc.double({ min: 0, max: 2 * Math.PI, noNaN: true }),
      fc.constantFrom(0, Math.PI / 2, Math.PI, (3 * Math.PI) / 2),
    )
    const beside = fc.record({
      bearing,
      share: fc.oneof(fc.double({ min: 0, max: 2, noNaN: true }), fc.constantFrom(0.9999, 1.0001)),
    })
    await fc.assert(
      fc.asyncProperty(
        point,
        fc.array(beside, { maxLength: 30 }),
        fc.integer({ min: 1, max: 50 }),
        async (center, others, radius) => {
          const points = [
            center,
            ...others.map(({ bearing, share }) => pointBeside(center, bearing, share * radius)),
          ]
          const dealers = points.map((_, i) => ({
            row: i,
            license: license(i),
            zip: i,
            lastDay: 20280101,
            names: '',
          }))
          const directory = await arrange({
            dealers,
            places: points.map((position, i) => ({ position, onFile: [], others: [dealers[i]!] })),
            placeOfZip: new Map(points.map((_, i) => [i, i])),
          })
          const vectors = points.map(({ lat, lng }) => unitVector(lat, lng))
          const squared = (i: number) =>
            vectors[0]!.reduce((sum, part, k) => sum + (part - vectors[i]![k]!) ** 2, 0)
          const expected = points
            .map((_, i) => i)
            .slice(1)
            .filter((i) => squared(i) <= milesChord(radius))
            .sort((a, b) => squared(a) - squared(b) || a - b)
          const found = nearDealers(directory, { zip: '00000', radius, today: 20261121 })
          assert.deepEqual(
            found.map((dealer) => directory.dealers.row[dealer]!),
            [0, ...expected],
          )
          for (const i of expected) assert.ok(chordMiles(squared(i)) <= radius + 1e-6)
        },
      ),
      {
        numRuns: 1_000,
        examples: [[{ lat: 40.72, lng: -90 }, [{ bearing: Math.PI, share: 0.9999 }], 50]],
      },
    )
  })
})

describe('one dealer by license', () => {
  let t: TestApp
  before(async () => {
    t = await createTestApp()
    await list(
      t,
      [
        {
          license_number: '1-62-037-01-8E-90211',
          premise_zip: '37203',
          business_name: 'Cumberland Arms',
          fee_longgun: 2_550,
          fee_handgun: 3_000,
          residential: 1,
          contact_required: 1,
          sot_on_file: 1,
          mail_street: 'PO BOX 1',
          mail_city: 'NASHVILLE',
          mail_state: 'TN',
          mail_zip: '37202',
        },
        { license_number: '1-62-037-01-8E-90212', premise_zip: '37203' },
        { license_number: '1-57-037-01-8E-90211', premise_zip: '37203' },
      ],
      ['1-62-037-01-8E-90211'],
    )
  })
  after(() => t.close())

  test('has the full record, fees in dollars', async () => {
    for (const shop of [t.shop, t.remote]) {
      const dealer = await shop.ffls.get({ license_number: '1-62-037-01-8E-90211' })
      const {
        transfer_fee_longgun,
        transfer_fee_handgun,
        residential,
        contact_required,
        mail_street,
        mail_city,
        mail_state,
        mail_zip_code,
        list_name,
        ffl_on_file,
        sot_on_file,
        active,
      } = dealer
      assert.deepEqual(
        [
          transfer_fee_longgun,
          transfer_fee_handgun,
          residential,
          contact_required,
          mail_street,
          mail_city,
          mail_state,
          mail_zip_code,
        ],
        [25.5, 30, 1, 1, 'PO BOX 1', 'NASHVILLE', 'TN', '37202'],
      )
      assert.deepEqual([list_name, ffl_on_file, sot_on_file, active], ['Cumberland Arms', 1, 1, 1])
      assert.equal(
        (await shop.ffls.get({ license_number: license(90_212) })).transfer_fee_longgun,
        null,
      )
    }
  })

  for (const text of [
    '1-62-037-01-8E-90211',
    '162037018E90211',
    '1-62-037-01-8e-90211',
    '1-62-XXX-XX-XX-90211',
    '162xxxxxxx90211',
    '1-62-037-XX-8E-90211',
    'X-62-037-01-8E-90211',
    '1-6-2-0-3-7-0-1-8-E-90211',
    '1-62-037-01-XX-9X211',
    '---162037018E90211',
  ]) {
    test(`${text} is found`, async () =>
      assert.equal(
        (await t.remote.ffls.get({ license_number: text })).license_number,
        '1-62-037-01-8E-90211',
      ))
  }

  const refused: [text: string, status: number, message: RegExp][] = [
    ['X-XX-037-01-8E-90211', 404, /fits 2 dealers/],
    ['X-XX-XXX-XX-XX-XXXXX', 404, /fits 3 dealers/],
    ['1-62-037-01-8E-9021X', 404, /fits 2 dealers/],
    ['1-62-037-01-8E-90213', 404, /No dealer/],
    ['X-99-XXX-XX-XX-90211', 404, /fits/],
    ['1-62-037-01-5E-90211', 404, /its number is 1-62-037-01-8E-90211 now/],
    ['1-62-XXX-XX-5E-90211', 404, /its number is 1-62-037-01-8E-90211 now/],
    ['1234567890', 404, /license number is 15/],
    ['ABCDEFGHIJ', 404, /license number is 15/],
    ['1'.repeat(25), 404, /license number is 15/],
    ['1-62-037-01-8I-90211', 404, /license number is 15/],
    ['----------', 404, /license number is 15/],
    ['not-a-license', 404, /license number is 15/],
    ['123456789', 400, /10 to 25/],
    ['1'.repeat(26), 400, /10 to 25/],
    ['1-62-037-01-8E-90%25', 400, /10 to 25/],
    ['1_62_037_01_8E_90211', 400, /10 to 25/],
    ['1-62-037-01-8E-90211%20', 400, /10 to 25/],
    ['%00%00%00%00%00%00%00%00%00%00', 400, /10 to 25/],
    ['1-62-037-01-8E-9021%C3%84', 400, /10 to 25/],
  ]
  for (const [text, status, message] of refused) {
    test(`${text} is ${status}`, async () => {
      const answer = await t.json(`/v1/ffls/${text}`)
      assert.deepEqual(
        [answer.status, answer.body.error.code],
        [status, status === 400 ? 'invalid_parameter' : 'not_found'],
      )
      assert.match(answer.body.error.message, message)
      if (status === 400) assert.equal(answer.body.error.details[0].path, 'license_number')
    })
  }

  test('the library has the same refusals', async () => {
    await assert.rejects(t.shop.ffls.get({ license_number: '123456789' }), {
      code: 'invalid_parameter',
    })
    await assert.rejects(t.shop.ffls.get({ license_number: license(1) }), { code: 'not_found' })
    await assert.rejects(t.shop.ffls.get({} as never), { code: 'invalid_parameter' })
    await assert.rejects(t.remote.ffls.get({ license_number: '' }), { code: 'invalid_parameter' })
  })
})

const PDF = Buffer.from('%PDF-1.4\n%made up\n')
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0])
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0])

describe("a dealer's document", () => {
  test('is for a subscriber whose order names that very license number, dashes and case aside', () => {
    const orders = [
      { order_id: 'A', ffl: null },
      { order_id: 'B', ffl: license(2) },
      { order_id: 'C', ffl: license(1) },
      { order_id: 'D', ffl: license(1) },
    ]
    const table: [text: string, order: string | null][] = [
      [license(1), 'C'],
      [license(1).toLowerCase(), 'C'],
      [license(1).replaceAll('-', ''), 'C'],
      [license(2), 'B'],
      [license(3), null],
      [license(1, '7E'), null],
      ['1-62-XXX-XX-XX-00001', null],
      ['X-XX-XXX-XX-XX-XXXXX', null],
      ['1234567890', null],
      ['', null],
    ]
    for (const [text, order] of table) assert.equal(documentAccess(orders, text), order, text)
    assert.equal(documentAccess([{ order_id: 'E', ffl: '162037018e00001' }], license(1)), 'E')
    assert.equal(
      documentAccess([{ order_id: 'F', ffl: '1-62-XXX-XX-XX-00001' }], '1-62-XXX-XX-XX-00001'),
      null,
    )
    assert.equal(documentAccess([], license(1)), null)
  })

  test('is refused without an order, whether the dealer exists or not', async () => {
    await using t = await createTestApp()
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    await storeDocument(t.app.ctx, { license_number: license(1), document_type: 'ffl', bytes: PDF })
    for (const text of [license(1), license(9), '1-62-XXX-XX-XX-00001', 'not-a-license']) {
      const { status, body } = await t.json(`/v1/ffls/${text}/documents/ffl`)
      assert.deepEqual([status, body.error.code], [403, 'ffl_not_associated_with_order'], text)
    }
    await assert.rejects(
      t.shop.ffls.document({ license_number: license(1), document_type: 'sot' }),
      { code: 'ffl_not_associated_with_order' },
    )
    for (const [path, member] of [
      [`${license(1)}/documents/w9`, 'document_type'],
      [`${license(1)}/documents/FFL`, 'document_type'],
      ['123456789/documents/ffl', 'license_number'],
    ] as const) {
      const { status, body } = await t.json(`/v1/ffls/${path}`)
      assert.deepEqual(
        [status, body.error.code, body.error.details[0].path],
        [400, 'invalid_parameter', member],
      )
    }
    assert.equal((await t.request(`/v1/ffls/${license(1)}/documents`)).status, 404)
  })

  test("is for an order that is visible, one's own, and names that very number; the newest one is named", async () => {
    await using t = await createTestApp()
    await list(t, [
      { license_number: license(1), premise_zip: '37203' },
      { license_number: license(2), premise_zip: '37203' },
    ])
    await storeDocument(t.app.ctx, { license_number: license(1), document_type: 'ffl', bytes: PDF })
    const { id: stranger } = await t.app.operator.subscribers.create({
      name: 'Other shop',
      email: 'other@shop.example',
    })
    const code = async (text: string, kind = 'ffl') =>
      (await t.json(`/v1/ffls/${text}/documents/${kind}`)).body.error?.code ?? 'open'
    await addOrder(t, { order_id: 'HIDDEN', ffl: license(1), visible: 0 })
    await addOrder(t, { order_id: 'THEIRS', ffl: license(1), subscriber_id: stranger })
    await addOrder(t, { order_id: 'RENEWED', ffl: license(1, '7E') })
    await addOrder(t, { order_id: 'OTHER', ffl: license(2) })
    await addOrder(t, { order_id: 'NONE' })
    assert.equal(await code(license(1)), 'ffl_not_associated_with_order')
    await addOrder(t, { order_id: 'FIRST', ffl: license(1) })
    await addOrder(t, { order_id: 'SECOND', ffl: license(1) })
    await addOrder(t, { order_id: 'LAST', ffl: license(1), visible: 0 })
    for (const shop of [t.shop, t.remote]) {
      const answer = await shop.ffls.document({
        license_number: license(1).toLowerCase().replaceAll('-', ''),
        document_type: 'ffl',
      })
      assert.deepEqual([answer.associated_order_id, answer.expires_in_seconds], ['SECOND', 900])
    }
    assert.deepEqual(
      [
        await code(license(1)),
        await code(license(1), 'sot'),
        await code(license(2)),
        await code('1-62-XXX-XX-XX-00001'),
      ],
      ['open', 'document_not_on_file', 'document_not_on_file', 'ffl_not_associated_with_order'],
    )
    // A license that was renewed since is the same dealer's.
    assert.equal(
      (await t.shop.ffls.document({ license_number: license(1, '7E'), document_type: 'ffl' }))
        .associated_order_id,
      'RENEWED',
    )
    const { object_key } = await t.app.ctx.read
      .selectFrom('dealer_document')
      .select('object_key')
      .executeTakeFirstOrThrow()
    await t.app.ctx.objects.remove(object_key)
    assert.equal(await code(license(1)), 'document_file_unavailable')
  })

  test('has a URL for 900 seconds; 404 when it is not on file, 503 when only its file is not there', async () => {
    await using t = await createTestApp()
    t.expectErrors(/the object store cannot be asked for a document: no answer/)
    const { ctx } = t.app
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    const dealerId = '1-62-00001'
    await assert.rejects(documentUrl(ctx, { dealerId, kind: 'ffl' }), {
      code: 'document_not_on_file',
    })
    await storeDocument(ctx, {
      license_number: '1-62-XXX-XX-XX-00001',
      document_type: 'ffl',
      bytes: PDF,
    })
    const url = new URL(await documentUrl(ctx, { dealerId, kind: 'ffl' }))
    const response = await t.request(url.pathname + url.search, { key: null })
    assert.deepEqual(
      [
        response.status,
        response.headers.get('content-type'),
        response.headers.get('content-disposition'),
      ],
      [
        200,
        'application/pdf',
        'attachment; filename="1-62-00001-ffl.pdf"; filename*=UTF-8\'\'1-62-00001-ffl.pdf',
      ],
    )
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), PDF)
    t.clock.advance(899_999)
    assert.equal((await t.request(url.pathname + url.search, { key: null })).status, 200)
    t.clock.advance(1)
    assert.equal((await t.request(url.pathname + url.search, { key: null })).status, 403)
    await assert.rejects(documentUrl(ctx, { dealerId, kind: 'sot' }), {
      code: 'document_not_on_file',
    })
    const { object_key } = await ctx.read
      .selectFrom('dealer_document')
      .select('object_key')
      .executeTakeFirstOrThrow()
    await ctx.objects.remove(object_key)
    await assert.rejects(documentUrl(ctx, { dealerId, kind: 'ffl' }), {
      code: 'document_file_unavailable',
    })
    await assert.rejects(
      documentUrl(
        {
          ...ctx,
          objects: {
            ...ctx.objects,
            has: async () => {
              throw new Error('no answer')
            },
          },
        },
        { dealerId, kind: 'ffl' },
      ),
      { code: 'document_file_unavailable' },
    )
  })

  test('stays with the dealer over a renewal', async () => {
    await using t = await createTestApp()
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    await storeDocument(t.app.ctx, { license_number: license(1), document_type: 'ffl', bytes: PDF })
    await list(t, [{ license_number: license(1, '9E'), premise_zip: '37203' }])
    assert.match(
      await documentUrl(t.app.ctx, { dealerId: '1-62-00001', kind: 'ffl' }),
      /objects\/documents/,
    )
  })

  test('takes the place of the one before, whose file is removed, and every act is audited', async () => {
    await using t = await createTestApp()
    const { ctx } = t.app
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    const key = async () =>
      (await ctx.read.selectFrom('dealer_document').select('object_key').executeTakeFirstOrThrow())
        .object_key
    assert.deepEqual(
      await storeDocument(ctx, { license_number: license(1), document_type: 'sot', bytes: PNG }),
      { license_number: license(1), content_type: 'image/png' },
    )
    const first = await key()
    assert.match(first, /^documents\/[0-9a-f]{32}\.png$/)
    await storeDocument(ctx, { license_number: license(1), document_type: 'sot', bytes: JPEG })
    assert.deepEqual(
      [await ctx.objects.has(first), await ctx.objects.has(await key())],
      [false, true],
    )
    const second = await key()
    assert.deepEqual(
      await removeDocument(ctx, { license_number: license(1), document_type: 'sot' }),
      { license_number: license(1) },
    )
    assert.equal(await ctx.objects.has(second), false)
    await assert.rejects(
      removeDocument(ctx, { license_number: license(1), document_type: 'sot' }),
      { code: 'document_not_on_file' },
    )
    await assert.rejects(
      storeDocument(ctx, { license_number: license(2), document_type: 'sot', bytes: PDF }),
      { code: 'not_found' },
    )
    const acts = await ctx.read
      .selectFrom('audit')
      .select('action')
      .where('action', 'like', 'ffl.%')
      .orderBy('seq')
      .execute()
    assert.deepEqual(
      acts.map(({ action }) => action),
      ['ffl.document.store', 'ffl.document.store', 'ffl.document.remove'],
    )
  })

  test('is a PDF, JPEG or PNG by its first bytes, of 10 MB at most', () => {
    assert.deepEqual([PDF, JPEG, PNG].map(documentType), [
      'application/pdf',
      'image/jpeg',
      'image/png',
    ])
    const largest = Buffer.alloc(MAX_DOCUMENT)
    PDF.copy(largest)
    assert.equal(documentType(largest), 'application/pdf')
    for (const bytes of [
      Buffer.concat([largest, Buffer.alloc(1)]),
      Buffer.alloc(0),
      Buffer.from('%PDF'),
      Buffer.from('<html>'),
      Buffer.from(' %PDF-1.4'),
      PNG.subarray(0, 7),
      Buffer.from('PK\x03\x04'),
    ]) {
      assert.throws(() => documentType(bytes), { code: 'invalid_parameter' })
    }
  })
})

describe('ffls document', { skip: oneFolder }, () => {
  let scratch: string
  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'qm-ffls-'))
    writeFileSync(join(scratch, 'license.pdf'), PDF)
    writeFileSync(join(scratch, 'page.html'), '<html>')
  })
  after(() => rmSync(scratch, { recursive: true, force: true }))

  test('stores, replaces and removes a document; a dry run changes nothing', async () => {
    await using t = await createTestApp()
    const [{ dir, ctx }, file] = [t.app, join(scratch, 'license.pdf')]
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    const stored = async () =>
      ctx.read.selectFrom('dealer_document').select(['kind', 'content_type']).execute()
    assert.deepEqual(await json(dir, 'ffls', 'document', license(1), 'ffl', file, '--dry-run'), {
      content_type: 'application/pdf',
      license_number: license(1),
      dry_run: true,
      document_type: 'ffl',
      bytes: PDF.length,
    })
    assert.deepEqual([await stored(), await ctx.objects.list('')], [[], []])
    assert.deepEqual(await json(dir, 'ffls', 'document', '1-62-xxx-xx-xx-00001', 'ffl', file), {
      content_type: 'application/pdf',
      license_number: license(1),
      document_type: 'ffl',
      bytes: PDF.length,
    })
    assert.deepEqual(await stored(), [{ kind: 'ffl', content_type: 'application/pdf' }])
    // What the command stored, the server hands out: both sign with the same key.
    const url = new URL(await documentUrl(ctx, { dealerId: '1-62-00001', kind: 'ffl' }))
    assert.equal((await t.request(url.pathname + url.search, { key: null })).status, 200)
    assert.equal(
      (await json(dir, 'ffls', 'document', license(1), 'ffl', '--remove', '--dry-run'))['removed'],
      false,
    )
    assert.equal((await stored()).length, 1)
    assert.equal(
      (await json(dir, 'ffls', 'document', license(1), 'ffl', '--remove'))['removed'],
      true,
    )
    assert.deepEqual([await stored(), await ctx.objects.list('')], [[], []])
  })

  test('says what is wrong', async () => {
    await using t = await createTestApp()
    await list(t, [
      { license_number: license(1), premise_zip: '37203' },
      { license_number: '1-57-037-01-8E-00001', premise_zip: '37203' },
    ])
    const file = join(scratch, 'license.pdf')
    const table: [args: string[], status: number, message: RegExp][] = [
      [[license(1), 'w9', file], 2, /ffl or sot/],
      [[license(1), 'ffl'], 2, /FILE/],
      [[license(1), 'ffl', file, '--remove'], 2, /takes no file/],
      [[license(1)], 2, /KIND/],
      [[license(1), 'ffl', join(scratch, 'none.pdf')], 1, /there is no such file or folder/],
      [[license(1), 'ffl', scratch], 1, /is not a file/],
      [[license(1), 'ffl', join(scratch, 'page.html')], 1, /PDF, JPEG or PNG/],
      [[license(2), 'ffl', file], 1, /No dealer/],
      [['X-XX-XXX-XX-XX-00001', 'ffl', file], 1, /fits 2 dealers/],
      [['Smith', 'ffl', file], 1, /license number is/],
      [[license(1), 'ffl', '--remove'], 1, /no FFL document/],
    ]
    for (const [args, status, message] of table) {
      const done = await run(t.app.dir, 'ffls', 'document', ...args)
      assert.equal(done.status, status, args.join(' '))
      assert.match(done.err, message)
    }
  })
})

describe('the dealers of the demo', () => {
  const asOf = Date.UTC(2026, 10, 21, 12)
  const { dealers, onFile, documents } = makeDemoDealers(asOf)

  test('stand in every state, some with everything that an order needs', () => {
    assert.ok(dealers.length > 550 && dealers.length < 650)
    const states = Object.keys(STATES).filter((state) => !isTerritory(state) && !isMilitary(state))
    const ids = new Set(onFile.map(({ dealer_id }) => dealer_id))
    for (const state of states) {
      const here = dealers.filter(({ premise_state }) => premise_state === state)
      assert.ok(here.length >= 3, state)
      const [first] = here as [DemoDealer]
      assert.deepEqual(
        [
          first.sot_on_file,
          first.listed,
          first.expires_on > '2026-11-21',
          first.fee_longgun,
          ids.has(first.id) || first.marked_on_file === 1,
        ],
        [1, 1, true, 2_500, true],
        state,
      )
    }
    const share =
      dealers.filter(({ id, marked_on_file }) => ids.has(id) || marked_on_file === 1).length /
      dealers.length
    assert.ok(share > 0.25 && share < 0.45, `${share}`)
    const some = (is: (dealer: DemoDealer) => boolean) =>
      assert.ok(dealers.some(is) && !dealers.every(is))
    for (const is of [
      (dealer: DemoDealer) => dealer.expires_on < '2026-11-21',
      (dealer: DemoDealer) => dealer.residential === 1,
      (dealer: DemoDealer) => dealer.contact_required === 1,
      (dealer: DemoDealer) => dealer.listed === 0,
      (dealer: DemoDealer) => dealer.business_name === null,
      (dealer: DemoDealer) => dealer.fee_handgun === null,
    ])
      some(is)
    assert.ok(documents.some(({ kind }) => kind === 'sot'))
  })

  test('have licenses of the right form, premises in their states and telephones that ring nowhere', () => {
    assert.equal(new Set(dealers.map(({ id }) => id)).size, dealers.length)
    for (const dealer of dealers) {
      const known = parseLicense(dealer.license_number)!
      assert.deepEqual(
        [known.id, known.number, known.type, expiryDate(known.expiryCode, asOf)],
        [dealer.id, dealer.license_number, dealer.license_type, dealer.expires_on],
      )
      const place = placeOfZip(dealer.premise_zip)!
      assert.equal(countyOf(place.counties[0]!)!.state, dealer.premise_state)
      assert.match(dealer.voice_phone!, /^\d{3}55501\d{2}$/)
      assert.match(dealer.email ?? 'a@b.example', /\.example$/)
    }
  })

  test("are the same for the same month, and only their licenses' ends move with time", () => {
    assert.deepEqual(makeDemoDealers(asOf), { dealers, onFile, documents })
    const later = makeDemoDealers(asOf + 400 * DAY).dealers
    assert.deepEqual(
      later.map(({ id, premise_zip }) => [id, premise_zip]),
      dealers.map(({ id, premise_zip }) => [id, premise_zip]),
    )
    assert.ok(
      later.every(
        ({ license_number, expires_on }) =>
          expiryDate(parseLicense(license_number)!.expiryCode, asOf + 400 * DAY) === expires_on,
      ),
    )
  })

  test('are put into a folder that has none, quickly and once, with documents that open', async () => {
    await using t = await createTestApp()
    const start = cpuTime()
    await addDemoDealers(t.app.ctx)
    assert.ok(cpuTime() - start < 5_000)
    const near = await t.remote.ffls.near({ zip: '37203' })
    assert.equal(near.ffls[0]!.ffl_on_file, 1)
    assert.equal(near.ffls[0]!.premise_zip_code, '37203')
    const document = new URL(
      await documentUrl(t.app.ctx, { dealerId: documents[0]!.dealer.id, kind: documents[0]!.kind }),
    )
    assert.match(
      await (await t.request(document.pathname + document.search, { key: null })).text(),
      /^%PDF-1\.4[\s\S]*%%EOF\n$/,
    )
    await list(t, [{ license_number: license(1), premise_zip: '37203' }])
    await addDemoDealers(t.app.ctx)
    assert.equal(
      (await t.remote.ffls.near({ zip: '37203' })).count,
      1,
      'other dealers are left alone',
    )
  })

  test('come to a demo of an earlier release too', async () => {
    await using t = await createTestApp()
    writeKeyFile(join(t.app.dir, 'keys', 'demo-key'), t.key)
    assert.equal((await prepareDemo(t.app)).key, t.key)
    assert.ok((await t.remote.ffls.near({ zip: '10001' })).count > 1)
  })
})
