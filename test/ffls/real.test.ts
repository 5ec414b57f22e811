/**
 * Lists that the ATF and a distributor really made, kept outside this repository, and one as long
 * as the whole country's.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { expiryDate } from '../../lib/ffls/license.js'
import {
  JUNE,
  MAY,
  PLACES,
  counts,
  dealers,
  file,
  listedOnes,
  stored,
  text,
  withApp,
} from './lists.js'

const DATA = resolve('..', 'shared', 'data', 'ffl')
const APRIL = join(DATA, '0413-ffl-list.txt.gz')
const MAY_2013 = join(DATA, '0513-ffl-list.txt.gz')
const RSR = join(DATA, 'rsr-ffl-transfer-dealers.txt.gz')
const without = [APRIL, MAY_2013, RSR].every(existsSync)
  ? false
  : `the real lists are not here: ${DATA}`

/**
 * A list of 2013 in the plainest way: dealers of our types by region, district and sequence, each
 * with its license and state.
 */
function plainly(
  path: string,
): Map<string, { license: string; expiry: string; state: string; rest: string }> {
  const found = new Map<string, { license: string; expiry: string; state: string; rest: string }>()
  for (const line of gunzipSync(readFileSync(path)).toString().split('\n').slice(2, -1)) {
    const [region, district, county, type, expiry, sequence, ...rest] = line.split('\t') as [
      string,
      string,
      string,
      string,
      string,
      string,
      ...string[],
    ]
    if (type !== '06')
      found.set(`${region}-${district}-${sequence}`, {
        license: [region, district, county, type, expiry, sequence].join('-'),
        expiry,
        state: rest[4]!,
        rest: rest.join('\t'),
      })
  }
  return found
}

describe('real lists', { skip: without }, () => {
  test('April and May 2013: every row, and the difference between them is that of two plain loops', () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      const april = await ffls.import({ file: APRIL }, { asOf: Date.UTC(2013, 3, 10) })
      assert.deepEqual(
        [
          april.rows,
          april.skipped,
          april.rejected,
          april.reasons,
          april.cut_off?.line,
          ...counts(april),
        ],
        [2_293, { '06': 61 }, 0, {}, 2_296, 2_232, 0, 0, 0, 0],
      )
      const may = await ffls.import({ file: MAY_2013 }, { asOf: Date.UTC(2013, 4, 10) })
      assert.deepEqual(
        [may.rows, may.skipped, may.rejected, may.reasons, may.cut_off?.line],
        [20_087, { '06': 539 }, 0, {}, 20_090],
      )
      const [before, after] = [plainly(APRIL), plainly(MAY_2013)]
      const expected = { added: 0, renewed: 0, changed: 0, unchanged: 0 }
      for (const [id, dealer] of after) {
        const known = before.get(id)
        if (!known) expected.added++
        else if (known.license !== dealer.license) expected.renewed++
        else if (known.rest !== dealer.rest) expected.changed++
        else expected.unchanged++
      }
      assert.deepEqual(counts(may), [...Object.values(expected), 0])
      const missing = [...before].filter(([id]) => !after.has(id))
      assert.deepEqual(
        may.kept.flatMap(({ state, missing: count }) => Array<string>(count).fill(state)),
        missing.map(([, { state }]) => state).sort(),
        'a list that is cut off revokes nobody',
      )
      const rows = new Map((await stored(t)).map((row) => [row.id, row]))
      assert.deepEqual(rows.size, new Set([...before.keys(), ...after.keys()]).size)
      for (const [id, { license, state }] of [...before, ...after]) {
        const row = rows.get(id)!
        const wanted = after.get(id)?.license ?? license
        assert.deepEqual(
          [row.license_number, row.premise_state, row.listed],
          [wanted, after.get(id)?.state ?? state, 1],
        )
        assert.ok(
          row.expires_on >= '2008-04-01' &&
            row.expires_on <= '2017-12-01' &&
            row.expires_on[3] === wanted[12],
          wanted,
        )
        assert.match(row.premise_zip, /^\d{5}(-\d{4})?$/)
      }
      assert.deepEqual(
        counts(await ffls.import({ file: MAY_2013 }, { asOf: Date.UTC(2013, 4, 10) })),
        [0, 0, 0, after.size, 0],
      )
      const forced = await ffls.import(
        { file: MAY_2013, revoke: [...new Set(missing.map(([, { state }]) => state))] },
        { asOf: Date.UTC(2013, 4, 10) },
      )
      assert.deepEqual(
        [forced.gone, forced.kept, (await listedOnes(t)).length],
        [missing.length, [], after.size],
      )
    }))

  test("RSR's on-file list of 2025 over that of May 2013: every reject has its reason", () =>
    withApp(async (t) => {
      const { ffls } = t.app.operator
      await ffls.import({ file: MAY_2013 }, { asOf: Date.UTC(2013, 4, 10) })
      const known = plainly(MAY_2013)
      const asOf = Date.UTC(2025, 7, 5)
      const result = await ffls.onFile({ distid: 'RSR', file: RSR }, { asOf })
      // 42 rows are RSR's own accounts under a license of region 2; four dealers stand there twice
      // or more often.
      assert.deepEqual(result.reasons, {
        'the region is none of 1, 3, 4, 5, 6, 8, 9': 42,
        'the dealer stands in the list twice, and this license is not the later one': 5,
      })
      assert.deepEqual(
        [result.rows, result.skipped, result.cut_off, result.marked, result.unknown],
        [15_362, { '62': 1, '05': 1 }, null, 15_362 - 47 - 2, 0],
      )
      const lines = gunzipSync(readFileSync(RSR))
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => line.split(';'))
      const wanted = new Map<string, string>()
      for (const [, , , , , license] of lines as [
        string,
        string,
        string,
        string,
        string,
        string,
      ][]) {
        const [region, district, , type, , sequence] = license.split('-') as [
          string,
          string,
          string,
          string,
          string,
          string,
        ]
        if (
          region !== '2' &&
          type !== '05' &&
          type !== '62' &&
          !wanted.has(`${region}-${district}-${sequence}`)
        )
          wanted.set(`${region}-${district}-${sequence}`, license)
      }
      assert.equal(result.added, [...wanted.keys()].filter((id) => !known.has(id)).length)
      assert.equal(
        result.renewed,
        [...wanted].filter(
          ([id, license]) =>
            known.has(id) &&
            known.get(id)!.license !== license &&
            expiryDate(license.slice(12, 14), asOf) >
              expiryDate(known.get(id)!.expiry, Date.UTC(2013, 4, 10)),
        ).length,
      )
      const rows = new Map((await stored(t)).map((row) => [row.id, row.license_number]))
      for (const [id, license] of wanted)
        assert.ok(rows.get(id) === license || rows.get(id) === known.get(id)?.license, id)
      assert.equal(
        (await ffls.onFile({ distid: 'RSR', file: RSR }, { asOf })).unchanged,
        wanted.size,
      )
    }))
})

test('80,000 dealers are taken in, and nobody waits long for a turn meanwhile', async (t) => {
  await withApp(async (app) => {
    const states = Object.keys(PLACES)
    const path = file(text(states.flatMap((state) => dealers(16_000, state))))
    let [last, longest] = [Date.now(), 0]
    const ticking = setInterval(() => {
      longest = Math.max(longest, Date.now() - last)
      last = Date.now()
    }, 5)
    for (const asOf of [MAY, JUNE]) {
      const start = Date.now()
      assert.equal(
        (await app.app.operator.ffls.import({ file: path }, { asOf }))[
          asOf === MAY ? 'added' : 'unchanged'
        ],
        80_000,
      )
      t.diagnostic(
        `${asOf === MAY ? 'new' : 'unchanged'}: ${Date.now() - start} ms; the longest turn was ${longest} ms`,
      )
    }
    clearInterval(ticking)
  })
})
