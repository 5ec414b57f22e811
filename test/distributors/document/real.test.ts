/** Templates on files that were recorded of their distributors: they read every row. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { presets } from '../../../lib/distributors/builtin/index.js'
import { withSample } from '../../../lib/distributors/document/samples.js'
import { readDocument } from '../../../lib/distributors/document/read.js'
import { TEMPLATES } from '../../../lib/distributors/document/templates.js'
import { checkFeed } from '../../../lib/feeds/check.js'
import { NOW } from './rig.js'

const FOLDER = join('..', 'shared', 'data', 'fixtures')
const skip = existsSync(FOLDER) ? false : `${FOLDER} is not here`

const checked = (template: string, feed: string, name: string) => {
  const { document } = readDocument(
    JSON.stringify(TEMPLATES[template]),
    new Set(Object.keys(presets)),
  )
  return withSample(document!, { feed, file: join(FOLDER, name), other: null }, (sample) =>
    checkFeed({ ...sample, rows: 20, asOf: NOW }),
  )
}

describe('recorded files', { skip }, () => {
  test("Silencer Shop's catalog: parts are no suppressors", async () => {
    const { rows, rejected, offers, reasons } = await checked(
      'silencer-shop',
      'silencer-shop',
      'silencer_shop__silencer-shop-catalog.json',
    )
    assert.deepEqual([reasons, rejected, rows === offers.length && rows > 2], [[], 0, true])
    assert.deepEqual(
      [offers[0]!['stockid'], offers[0]!['unit_price'], offers[0]!['qty_on_hand']],
      ['SCO AC87', 9, 10],
    )
    assert.equal(offers[0]!['product_class'], 'FP')
  })

  for (const [template, feed, name] of [
    ['silencer-shop', 'silencer-shop-availability', 'silencer_shop__silencer-shop-inventory.json'],
    ['mge', 'mge-quantity', 'mge_wholesale__exportXML_cq_barcodeFFL_all.csv'],
  ] as const)
    test(`${feed}: quantities of every row`, async () => {
      const { rows, rejected, reasons } = await checked(template, feed, name)
      assert.deepEqual([reasons, rejected, rows > 2], [[], 0, true])
    })
})
