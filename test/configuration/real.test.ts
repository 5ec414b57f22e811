/** Documents that shops really had, written by others and kept outside this repository. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, test } from 'node:test'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { compileCheck } from '../../lib/configuration/check-document.js'
import { openSaved } from '../../lib/configuration/secrets.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { makeRegistry } from '../../lib/distributors/registry.js'
import { createTestApp } from '../../server/testing/index.js'

const FOLDER = resolve('..', 'shared', 'data', 'config')
const skip = existsSync(FOLDER) ? false : `the real documents are not here: ${FOLDER}`
const DOCUMENTS = {
  april2023: 'default-cockpit-config.2023-04-07.6634ca6.json',
  december2023: 'default-cockpit-config.2023-12-24.eb67772.json',
  june2024: 'default-cockpit-config.2024-06-13.49ab917.json',
  july2024: 'default-cockpit-config.2024-07-04.9d4e646.json',
}
const read = (name: keyof typeof DOCUMENTS) =>
  JSON.parse(readFileSync(join(FOLDER, DOCUMENTS[name]), 'utf8')) as Record<string, unknown>
const check = compileCheck(makeRegistry(builtin, presets))

/** Places where two values differ. */
function differences(
  a: unknown,
  b: unknown,
  path = '',
): { path: string; a: unknown; b: unknown }[] {
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  )
    return a === b ? [] : [{ path, a, b }]
  const [left, right] = [a, b] as Record<string, unknown>[]
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
    differences(left![name], right![name], `${path}/${name}`),
  )
}

/** What each document holds that must never be read back. */
const SECRETS = {
  june2024: [
    '/distributors/2nd Amendment Wholesale/fulfillment/API_TOKEN',
    '/distributors/AmChar/fulfillment/api_key',
    '/distributors/Chattanooga Shooting Supplies/fulfillment/API_TOKEN',
    '/distributors/Lipseys/fulfillment/API_PASSWORD',
    '/distributors/Lipseys/fulfillment/ship_to_store/API_PASSWORD',
    '/distributors/RSR Group/fulfillment/API_PASSWORD',
    '/distributors/RSR Group/fulfillment/ship_to_store/password',
    '/distributors/Sports South/fulfillment/api_password',
    '/distributors/Zanders/fulfillment/accessories/api_password',
    '/distributors/Zanders/fulfillment/firearms/api_password',
    '/distributors/Zanders/fulfillment/ship_to_store/api_password',
    '/targets/gunbroker/password',
  ],
  july2024: [
    '/distributors/Lipseys/fulfillment/API_PASSWORD',
    '/distributors/Lipseys/fulfillment/ship_to_store/API_PASSWORD',
  ],
}

describe('real documents', { skip }, () => {
  for (const name of ['june2024', 'july2024'] as const) {
    test(`${name} passes as it is`, () => assert.deepEqual(check(read(name)), []))

    test(`${name} is read back with its secrets masked and otherwise equal, and survives its own masks`, async () => {
      await using t = await createTestApp()
      const document = read(name)
      const put = async (configuration: unknown) =>
        (await t.json('/v1/config', { method: 'PUT', body: JSON.stringify(configuration) })).status
      assert.equal(await put(document), 200)
      const got = (await t.json('/v1/config')).body.data.configuration as unknown
      const changed = differences(document, got)
      assert.deepEqual(changed.map(({ path }) => path).sort(), SECRETS[name].toSorted())
      for (const { a, b } of changed) assert.deepEqual([a === '', b], [false, '********'])
      assert.equal(await put({ configuration: got }), 200)
      const subscriber = await findSubscriber(t.app.ctx, t.subscriber)
      assert.deepEqual(
        openSaved(t.app.ctx, subscriber, await t.app.ctx.configurations.of(subscriber)),
        document,
      )
    })
  }

  test('december2023 fails at its two API_HOST members alone, and passes without them', () => {
    const document = read('december2023') as {
      distributors: Record<string, { fulfillment: Record<string, unknown> }>
    }
    const faults = check(document)
    assert.deepEqual(faults.map(({ path }) => path).sort(), [
      '/distributors/Lipseys/fulfillment/API_HOST',
      '/distributors/RSR Group/fulfillment/API_HOST',
    ])
    for (const { message } of faults)
      assert.match(
        message,
        /is of an older form: the program knows the distributor's address; remove it$/,
      )
    for (const name of ['Lipseys', 'RSR Group'])
      delete document.distributors[name]!.fulfillment['API_HOST']
    assert.deepEqual(check(document), [])
  })

  describe('april2023 is of the old form', () => {
    const rows: [path: string, message: RegExp][] = [
      ['/product_restrictions', /is required/],
      ['/min_quantity_to_list', /`product_restrictions.min_quantity_to_list` took its place/],
      [
        '/min_distributor_cost',
        /`product_restrictions.cost.global_restrictions.min_distributor_cost` took its place/,
      ],
      ['/max_distributor_cost', /global_restrictions.max_distributor_cost` took its place/],
      ['/max_listing_count', /this limit no longer exists; remove it/],
      ['/brand_exclusions', /`product_restrictions.brand.exclude` took its place/],
      ['/brand_inclusions', /`product_restrictions.brand.include` took its place/],
      [
        '/distributors/Chatanooga Shooting Supplies',
        /not a distributor here; did you mean `Chattanooga Shooting Supplies`\?/,
      ],
      ['/distributors/Zanders/product_restrictions', /is required/],
      ['/distributors/Zanders/ftp_user', /feeds are set up by the operator/],
      [
        '/distributors/Zanders/include_categories',
        /`product_restrictions.category.include` of the entry took its place/,
      ],
      [
        '/distributors/Zanders/shipping/price_based_shipping/0/shipping_cost',
        /`flat_rate.cost` of the level took its place/,
      ],
      ['/distributors/Zanders/shipping/price_based_shipping/0/flat_rate', /is required/],
      ['/distributors/2nd Amendment Wholesale/fulfillment', /is required/],
      [
        '/distributors/2nd Amendment Wholesale/username',
        /the credentials stand in `fulfillment` of the entry/,
      ],
      [
        '/distributors/Lipseys/shipping',
        /`fixed_cost` is of an older form, `flat_rate.cost` and `flat_rate.shipping_class` took its place/,
      ],
      ['/distributors/RSR Group/ftp_password', /credentials of orders stand in `fulfillment`/],
      ['/pricing/margin_dollar', /`pricing.margin.default.margin_dollar` took its place/],
      ['/pricing/margin_percentage', /`pricing.margin.default.margin_percentage` took its place/],
      ['/pricing/round_to_nearest_dollar', /`pricing.rounding` took its place/],
    ]
    for (const [path, message] of rows) {
      test(path, () => {
        const found = check(read('april2023')).filter((fault) => fault.path === path)
        assert.equal(found.length, 1)
        assert.match(found[0]!.message, message)
      })
    }

    test('it is refused as a whole, and its credentials are in no message', async () => {
      await using t = await createTestApp()
      const text = JSON.stringify(read('april2023')).replaceAll('REDACTED', 'S3CRET')
      const { status, body } = await t.json('/v1/config', { method: 'PUT', body: text })
      assert.deepEqual([status, body.error.code], [400, 'schema_validation_failed'])
      assert.equal(body.error.details.length, 40)
      assert.doesNotMatch(JSON.stringify(body), /S3CRET/)
      assert.deepEqual(await t.app.operator.configurations.history(t.subscriber), [])
    })

    test('the name was misspelt; under the right one its old credentials are told too', () => {
      const document = read('april2023') as { distributors: Record<string, unknown> }
      const { 'Chatanooga Shooting Supplies': misspelt, ...others } = document.distributors
      const paths = new Map(
        check({
          ...document,
          distributors: { ...others, 'Chattanooga Shooting Supplies': misspelt },
        }).map(({ path, message }) => [path, message]),
      )
      for (const [old, now] of [
        ['api_sid', 'API_SID'],
        ['api_token', 'API_TOKEN'],
      ])
        assert.match(
          paths.get(`/distributors/Chattanooga Shooting Supplies/${old}`)!,
          new RegExp(`\`fulfillment.${now}\` of the entry took its place`),
        )
    })
  })
})
