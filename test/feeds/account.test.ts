/**
 * Feeds that come with a shop's own account: each connector asks its simulator over a socket, and
 * what it brings is taken in as any other feed.
 */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MINUTE } from '../../lib/core/clock.js'
import { demoFeedFile } from '../../lib/simulator/demo/feeds.js'
import { accountRig as rig, age, edit, NAMES } from './account-rig.js'

describe('a feed that comes with an account', () => {
  for (const distid of Object.keys(NAMES))
    test(`${distid}: the first, the same again, one item less`, () =>
      rig(async (t) => {
        await t.save1(distid)
        await t.set(distid)
        const first = await t.pull(distid)
        assert.deepEqual([first.outcome, first.reasons], ['taken', []])
        assert.ok(first.offers > 100, `${first.offers} offers`)

        t.clock.advance(20 * MINUTE)
        assert.equal((await t.pull(distid)).outcome, 'unchanged')

        t.clock.advance(20 * MINUTE)
        edit(t, distid, (lines) => lines.slice(0, -1))
        age(t, distid, 10)
        const third = await t.pull(distid)
        assert.deepEqual([third.outcome, third.offers], ['taken', first.offers - 1])
      }))

  test('its prices are for that shop alone', () =>
    rig(async (t) => {
      await t.save1('RSR')
      const { id: other } = await t.app.operator.subscribers.create({
        name: 'Other',
        email: 'a@other.example',
      })
      await t.set('RSR')
      await t.pull('RSR')
      const { catalog } = t.app.ctx.engine
      const ask = (sql: string) => catalog.prepare(sql).pluck().all()
      assert.deepEqual(ask('SELECT count(*) FROM offer WHERE price IS NOT NULL'), [0])
      const [owner, ...more] = ask('SELECT DISTINCT subscriber_id FROM own_price')
      assert.deepEqual([more, owner === undefined, owner === other], [[], false, false])
    }))

  test('an empty simulator is no feed, and the one before serves on', () =>
    rig(async (t) => {
      await t.save1('LIP')
      await t.set('LIP')
      await t.pull('LIP')
      rmSync(demoFeedFile(t.app.dir, 'LIP')!)
      t.clock.advance(20 * MINUTE)
      assert.deepEqual((await t.pull('LIP')).outcome, 'refused')
    }))

  test('when an account may be asked again is known after a restart, and by every source of it', () =>
    rig(async (t) => {
      await t.save1('CSSI')
      await t.set('CSSI', { every: MINUTE })
      assert.equal((await t.pull('CSSI')).outcome, 'taken')
      const until = new Date(t.clock.ms + 20 * MINUTE).toISOString()
      assert.equal((await t.status('CSSI')).not_before, until)
      t.clock.advance(5 * MINUTE)
      // A source that is set anew is due at once; its account is not.
      await t.set('CSSI', { every: MINUTE })
      assert.deepEqual(await t.app.operator.feeds.pull(), [])
      const { outcome, reasons } = await t.pull('CSSI')
      assert.equal(outcome, 'failed')
      assert.match(reasons[0]!, new RegExp(`from ${until} on`))
      assert.equal((await t.status('CSSI')).last_outcome, 'taken')
      t.clock.advance(15 * MINUTE)
      assert.equal((await t.status('CSSI')).not_before, null)
      assert.equal((await t.app.operator.feeds.pull())[0]!.outcome, 'unchanged')
    }))

  test('a file that the server dates alike is not brought again, unless another was taken in', () =>
    rig(async (t) => {
      await t.save1('RSR')
      await t.set('RSR')
      const first = await t.pull('RSR')
      // The same size and time: only who reads it can tell that it is another.
      edit(t, 'RSR', ([line, ...more]) => [line!.replace(/.$/, 'F'), ...more])
      age(t, 'RSR', 120)
      t.clock.advance(20 * MINUTE)
      assert.equal((await t.pull('RSR')).outcome, 'unchanged')
      const file = demoFeedFile(t.app.dir, 'RSR')!
      edit(t, 'RSR', (lines) => lines.slice(0, -1))
      const own = { distid: 'RSR', subscriber: t.subscriber, file }
      const taken = await t.app.operator.feeds.import(own, { asOf: t.clock.ms })
      assert.equal(taken.offers, first.offers - 1)
      edit(t, 'RSR', (lines) => [...lines, lines[0]!.replace(/^[^;]+/, 'NEW-1')])
      age(t, 'RSR', -5)
      t.clock.advance(20 * MINUTE)
      assert.equal((await t.pull('RSR')).offers, first.offers)
    }))

  test('quantities come with an account too', () =>
    rig(async (t) => {
      await t.save1('RSR')
      await t.set('RSR')
      await t.pull('RSR')
      await t.set('RSR', { preset: 'rsr-quantity' })
      const results = await t.app.operator.feeds.pull({ distid: 'RSR' })
      assert.deepEqual(
        results.map(({ source, outcome }) => [source.split('/')[1], outcome]),
        [
          ['rsr-quantity', 'taken'],
          ['rsr', 'unchanged'],
        ],
      )
    }))

  test('a wrong password is told without it, and is not tried a third time', () =>
    rig(async (t) => {
      await t.save1('LIP', { api_password: 'my-secret-word' })
      await t.set('LIP')
      const told = []
      for (let turn = 0; turn < 3; turn++) told.push((await t.pull('LIP')).reasons.join())
      assert.match(told[1]!, /^the simulator of Lipseys: the login was refused$/)
      assert.match(told[2]!, /refused 2 times and is not tried for an hour/)
      assert.doesNotMatch(told.join(), /my-secret-word/)
      assert.match((await t.status('LIP')).last_outcome!, /^failed: .*not tried for an hour/)
    }))

  test('nobody is asked for a shop that has switched the distributor or its feed off', () =>
    rig(async (t) => {
      await t.save1('TSW')
      await t.set('TSW')
      await t.save1('TSW', {}, { active: false })
      assert.deepEqual((await t.pull('TSW')).reasons, [
        'Test shop has switched Sports South off in its configuration',
      ])
      await t.save1('TSW', {}, { product_feed: { active: false } })
      assert.deepEqual((await t.pull('TSW')).reasons, [
        'Test shop has switched the feed of Sports South off in its configuration',
      ])
      await t.save1('RSR')
      assert.deepEqual((await t.pull('TSW')).reasons, [
        'Test shop has no entry for Sports South any more',
      ])
    }))

  test('RSR without a password for files says what is missing', () =>
    rig(async (t) => {
      await t.save1('RSR', { ftp_password: '', store_ftp_password: '' })
      await t.set('RSR')
      assert.match((await t.pull('RSR')).reasons[0]!, /enter fulfillment\.ftp_password$/)
    }))

  test('a source that could never be asked is refused when it is set', () =>
    rig(async (t) => {
      const { set } = t.app.operator.feeds
      const of = (more: object) => set({ distid: 'LIP', location: 'account', ...more })
      const own = { subscriber: t.subscriber }
      await assert.rejects(of({}), /an account is that of a shop/)
      await assert.rejects(of(own), /has no entry for Lipseys in its configuration/)
      await t.save1('LIP')
      await assert.rejects(of({ ...own, allowPrivate: true }), /not for an account/)
      await assert.rejects(
        of({ ...own, distid: 'DAV' }),
        /no feed of Davidsons comes with an account/,
      )
      await assert.rejects(
        of({ ...own, preset: 'rsr' }),
        /brings feeds for lipseys and lipseys-pricing, not for rsr/,
      )
      await of(own)
      const [row] = await t.app.ctx.read
        .selectFrom('audit')
        .select('detail')
        .where('action', '=', 'feeds.set')
        .execute()
      assert.equal((JSON.parse(row!.detail) as { location: string }).location, 'account')
    }))

  test('on the schedule each distributor has a job of its own', () =>
    rig(async (t) => {
      await t.save1('TSW')
      await t.set('TSW')
      await t.app.jobs.run('feeds')
      await t.app.jobs.run('feeds-RSR')
      assert.equal((await t.status('TSW')).last_outcome, null)
      await t.app.jobs.run('feeds-TSW')
      assert.equal((await t.status('TSW')).last_outcome, 'taken')
    }))
})
