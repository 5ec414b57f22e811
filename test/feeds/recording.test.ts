/**
 * What an account records of its distributor: it tells neither the account nor its prices, and the
 * connector reads it again as it read the real thing.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { builtin, presets, simulated } from '../../lib/distributors/builtin/index.js'
import { cutToRows } from '../../lib/feeds/record/cut.js'
import { replayCheck, replayFeed } from '../../lib/feeds/record/record.js'
import type { Recording } from '../../lib/feeds/record/record.js'
import { withoutPerson, withoutPrices } from '../../lib/feeds/record/scrub.js'
import { accountRig, NAMES } from './account-rig.js'

/** Whatever a recording says, its connector must still make of it. */
async function replays({ distid, settings, recorded_at: at, check, feed }: Recording) {
  const distributor = builtin.find((one) => one.distid === distid)!
  const now = { settings, now: Date.parse(at) }
  assert.equal(await replayCheck(distributor, check, now), check.outcome)
  if (feed?.head)
    assert.deepEqual(await replayFeed(distributor, presets[feed.preset]!, feed, now), feed.head)
}

describe('a recording', () => {
  for (const distid of Object.keys(NAMES))
    test(`of ${distid} tells no credential and no price, and is read again as it was`, () =>
      accountRig(async (t) => {
        await t.save1(distid)
        const recording = await t.app.operator.distributors.record({
          distid,
          subscriber: t.subscriber,
        })
        const { check, feed } = recording
        assert.equal(check.outcome, 'valid')
        assert.equal(feed!.fault, null)
        assert.deepEqual([feed!.whole!.rows > feed!.head!.rows, feed!.whole!.rejected], [true, 0])
        assert.deepEqual([feed!.head!.rows > 5, feed!.head!.rejected], [true, 0])
        const text = JSON.stringify(recording)
        for (const value of Object.values(simulated.get(distid)!.simulator.credentials))
          if (String(value).length >= 4) assert.ok(!text.includes(String(value)), String(value))
        for (const [sum] of text.matchAll(/(?<![\w.])\d+\.\d\d(?![\w.])/g))
          assert.match(sum, /^[01]0*\.00$/)
        await replays(JSON.parse(text) as Recording)
        // Nothing was taken in by it.
        assert.deepEqual(await t.app.operator.feeds.status(), [])
      }))

  test('of a refused login says so, and asks for no feed', () =>
    accountRig(async (t) => {
      await t.save1('LIP', { api_password: 'another one' })
      const recording = await t.app.operator.distributors.record({
        distid: 'LIP',
        subscriber: t.subscriber,
      })
      assert.deepEqual([recording.check.outcome, recording.feed], ['invalid', null])
      await replays(recording)
    }))

  test('does not ask before a feed may be asked for again', () =>
    accountRig(async (t) => {
      await t.save1('CSSI')
      const record = () =>
        t.app.operator.distributors.record({ distid: 'CSSI', subscriber: t.subscriber })
      assert.equal((await record()).feed!.fault, null)
      assert.match((await record()).feed!.fault!, /^it may not be asked for this feed before 20/)
    }))

  test('is refused for a distributor, a feed or a shop that there is not', () =>
    accountRig(async (t) => {
      await t.save1('LIP')
      const record = (input: object) =>
        t.app.operator.distributors.record({ distid: 'LIP', subscriber: t.subscriber, ...input })
      await assert.rejects(record({ distid: 'NONE' }), /"NONE" is not a distributor/)
      await assert.rejects(
        record({ preset: 'rsr' }),
        /no account brings a feed for rsr; known: lip/,
      )
      await assert.rejects(record({ subscriber: 'nobody' }), /there is no subscriber "nobody"/)
      await assert.rejects(record({ distid: 'RSR' }), /has no entry for RSR Group/)
    }))

  // What shops have sent us: each of them is one more reason to believe the connector.
  const folder = join('test', 'feeds', 'recordings')
  for (const name of readdirSync(folder))
    test(`${name} is read as it was when it was recorded`, () =>
      replays(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Recording))
})

describe('what is scrubbed', () => {
  test('is who it is about, in JSON and in XML, also in XML as text', () => {
    const cases: [given: string, told: string][] = [
      ['{"name":"Pat Doe","itemName":"Bipod"}', '{"name":"Xxx Xxx","itemName":"Bipod"}'],
      ['{"email":"pat@shop.example"}', '{"email":"someone@shop.example"}'],
      ['{"note":"ask pat@shop.example"}', '{"note":"ask someone@shop.example"}'],
      ['{"city":"Reno","capacity":"10+1"}', '{"city":"Xxxx","capacity":"10+1"}'],
      ['{"note":"call (602) 555-1234"}', '{"note":"call 555-555-0100"}'],
      ['{"balance":-250,"limit":500}', '{"balance":-100,"limit":500}'],
      // JSON has no number that begins with two zeros.
      ['{"CustomerNumber": 4711}', '{"CustomerNumber": 1000}'],
      ['<Address1>12 Main St</Address1>', '<Address1>00 Xxxx Xx</Address1>'],
      ['&lt;PHONE&gt;6025551234&lt;/PHONE&gt;', '&lt;PHONE&gt;0000000000&lt;/PHONE&gt;'],
    ]
    for (const [given, told] of cases) assert.equal(withoutPerson(given), told)
  })

  test('is every price, by the name of its member or column, or by its cents', () => {
    const cases: [given: string, told: string][] = [
      ['{"price":512.5,"qty":7}', '{"price":100.0,"qty":7}'],
      ['{"DealerPrice":"512"}', '{"DealerPrice":"100"}'],
      ['{"price":0}', '{"price":0}'],
      ['&lt;CPRC&gt;512&lt;/CPRC&gt;', '&lt;CPRC&gt;100&lt;/CPRC&gt;'],
      ['SKU,Name,Price,Qty\nA,"B, C",12,7\n', 'SKU,Name,Price,Qty\nA,"B, C",10,7\n'],
      ['A1;012345678905;Bipod;99.95;7', 'A1;012345678905;Bipod;10.00;7'],
    ]
    for (const [given, told] of cases) assert.equal(withoutPrices(given), told)
  })
})

test('the beginning of a document is ended after its last whole row', () => {
  const cases: [given: string, told: string][] = [
    ['{"ok":true,"data":[{"a":1},{"a":"}"},{"a":', '{"ok":true,"data":[{"a":1},{"a":"}"}]}'],
    ['[{"a":[1,2]},{"a":[1]},{"a":[', '[{"a":[1,2]},{"a":[1]}]'],
    ['<D><T><A>1</A></T><T><A>2</A></T><T><A>', '<D><T><A>1</A></T><T><A>2</A></T></D>'],
    [
      '<string x="y">&lt;D&gt;&lt;T&gt;1&lt;/T&gt;&lt;T/&gt;&lt;T&gt;2&lt;/T&gt;&lt;T',
      '<string x="y">&lt;D&gt;&lt;T&gt;1&lt;/T&gt;&lt;T/&gt;&lt;T&gt;2&lt;/T&gt;&lt;/D&gt;</string>',
    ],
    ['A,B\n1,2\n3,', 'A,B\n1,2\n'],
    // Of which no row is whole.
    ['{"data":[{"a":', '{"data":[{"a":'],
  ]
  for (const [given, told] of cases) assert.equal(cutToRows(given), told)
})
