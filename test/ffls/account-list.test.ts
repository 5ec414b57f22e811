/** A distributor's list of dealers, asked for with a subscriber's account. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { DAY } from '../../lib/core/clock.js'
import { FeedFault } from '../../lib/distributors/account-feed.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import type { Distributor } from '../../lib/distributors/distributor.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'
import { accountRig } from '../feeds/account-rig.js'
import { entryOf } from '../simulator/page-rig.js'
import { refuses } from './lists.js'

const marks = async ({ app }: Pick<TestApp, 'app'>, distid: string) =>
  (
    await app.ctx.read
      .selectFrom('dealer_on_file')
      .select('dealer_id')
      .where('distid', '=', distid)
      .execute()
  ).length

describe("RSR's list of dealers, by its files", () => {
  test('comes with an account; what a simulator makes up is shown and never kept', () =>
    accountRig(async (t) => {
      await t.save1('RSR')
      const ask = (more: object = {}) =>
        t.app.operator.ffls.onFileByAccount(
          { distid: 'RSR', subscriber: t.subscriber, ...more },
          { dryRun: true },
        )
      const shown = await ask()
      assert.deepEqual([shown.rejected, shown.cut_off, shown.unmarked], [0, null, 0])
      assert.ok(shown.rows > 100 && shown.added === shown.marked, JSON.stringify(shown.rows))
      await assert.rejects(
        t.app.operator.ffls.onFileByAccount({ distid: 'RSR', subscriber: t.subscriber }),
        refuses(/RSR is simulated.*--dry-run/),
      )
      await t.app.jobs.run('dealers-RSR')
      assert.equal(await marks(t, 'RSR'), 0)
      await assert.rejects(ask({ distid: 'LIP' }), refuses(/LIP gives an account no list.*RSR/))
      await assert.rejects(ask({ subscriber: 'nobody' }), /there is no subscriber "nobody"/)
    }))

  test('an account without a password for files, or with a wrong one, is told what to enter', () =>
    accountRig(async (t) => {
      const ask = () =>
        t.app.operator.ffls.onFileByAccount(
          { distid: 'RSR', subscriber: t.subscriber },
          { dryRun: true },
        )
      await assert.rejects(ask(), FeedFault)
      await t.save1('RSR', { ftp_password: undefined, store_ftp_password: undefined })
      await assert.rejects(ask(), /enter fulfillment\.ftp_password/)
      await t.save1('RSR', { ftp_password: 'wrong-one' })
      await assert.rejects(ask(), (error: Error) => !error.message.includes('wrong-one'))
    }))
})

describe('the lists of distributors that orders really go to', () => {
  const row = (i: number) =>
    `PINE RIDGE ARMS;1 PINE ST;MACON;GA;312011234;1-20-021-01-8E-${String(i).padStart(5, '0')}\r\n`

  /** A shop with two subscribers; the second one alone has an account at Acme. */
  async function shop(bring: (file: string) => void): Promise<TestApp> {
    const lipseys = builtin.find(({ distid }) => distid === 'LIP')!
    const acme: Distributor = {
      ...lipseys,
      distid: 'ACME',
      name: 'Acme',
      dealers: {
        bring: async (_session, { file }) => {
          bring(file)
          return { outcome: 'written' }
        },
      },
    }
    const t = await createTestApp({ distributors: [acme] })
    await t.configure({ distributors: { Acme: entryOf(acme) } })
    await t.app.operator.subscribers.create({ name: 'A shop without', email: 'a@shop.example' })
    await t.app.operator.distributors.setMode({ distid: 'ACME', mode: 'live', reason: 'a test' })
    return t
  }

  test('are taken in every day, with the account that there is', async () => {
    let count = 3
    const t = await shop((file) =>
      writeFileSync(file, Array.from({ length: count }, (_, i) => row(i + 1)).join('')),
    )
    await t.app.jobs.run('dealers-ACME')
    assert.equal(await marks(t, 'ACME'), 3)
    count = 4
    t.clock.advance(DAY + 0.5)
    await t.app.jobs.run('dealers-ACME')
    assert.equal(await marks(t, 'ACME'), 4)
    // A list that lost most of its dealers takes nobody's mark away.
    count = 1
    await t.app.jobs.run('dealers-ACME')
    assert.equal(await marks(t, 'ACME'), 4)
    await t.close()
  })

  test('one that does not come leaves what is known', async () => {
    let isDown = false
    const t = await shop((file) => {
      if (isDown) throw new FeedFault('the server is down')
      writeFileSync(file, row(1))
    })
    await t.app.jobs.run('dealers-ACME')
    isDown = true
    await t.app.jobs.run('dealers-ACME')
    assert.equal(await marks(t, 'ACME'), 1)
    await assert.rejects(
      t.app.operator.ffls.onFileByAccount({ distid: 'ACME', subscriber: t.subscriber }),
      /^Error: Acme: the server is down$/,
    )
    await t.close()
  })
})
