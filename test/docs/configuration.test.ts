/** The reference tells every member of the configuration document, from the schema that checks it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Schema } from '../../lib/configuration/schema/schema.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

interface Told {
  name: string
  description: string
  limits: [name: string, value: number][]
}

const LIMITS = ['minimum', 'maximum', 'maxItems']

/** Every member that the schema names, wherever it stands, with what is said of it. */
function membersOf(schema: Schema): Told[] {
  const own = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>)
    // What stands beside a reference is left out by OpenAPI 3.0: the definition tells. A condition
    // on other members describes none.
    .filter(([, member]) => member['$ref'] === undefined && 'description' in member)
    .map(([name, member]) => ({
      name,
      description: String(member['description']),
      limits: Object.entries(member).filter(([rule]) => LIMITS.includes(rule)) as Told['limits'],
    }))
  const inner = Object.values(schema).flatMap((part) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? [part as Schema]
      : Array.isArray(part)
        ? (part.filter((one) => typeof one === 'object') as Schema[])
        : [],
  )
  return [...own, ...inner.flatMap(membersOf)]
}

const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll("'", '&#39;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')

describe('the configuration document in the reference', () => {
  let t: TestApp
  let page: string
  let schema: Schema
  before(async () => {
    t = await createTestApp()
    page = await (await t.request('/v1/docs', { key: null })).text()
    schema = (await t.json('/v1/config/schema')).body as unknown as Schema
  })
  after(() => t.close())

  const operation = (id: string) => {
    const [, text = ''] = page.split(`id="/config/${id}"`)
    return text.slice(0, text.indexOf('</article>'))
  }

  test('has every member of the schema, with its description and its limits', () => {
    const members = membersOf(schema)
    assert.ok(members.length > 100, `${members.length}`)
    const items = operation('configPut').split('<li>')
    for (const { name, description, limits } of members) {
      const item = items.find(
        (one) =>
          one.startsWith(`<code>${escaped(name)}</code>`) &&
          one.includes(`<p>${escaped(description)}`) &&
          limits.every(([rule, value]) =>
            one.includes(
              rule === 'minimum'
                ? `from ${value}`
                : rule === 'maximum'
                  ? `to ${value}`
                  : `${value} entries`,
            ),
          ),
      )
      assert.ok(item, `${name}: ${description} ${JSON.stringify(limits)}`)
    }
  })

  test('is told once: what is the same is named, and other operations lead there', () => {
    const put = operation('configPut')
    assert.match(
      put,
      /<code>RSR Group<\/code>[^]*?<code>shipping<\/code>[^\n]*costs\. The members of <code>distributors\./,
    )
    assert.equal(put.split('<code>price_based_shipping</code>').length, 2)
    for (const id of ['configGet', 'configValidate']) {
      assert.match(
        operation(id),
        /<code>configuration<\/code> <span class="type"><a href="#\/config\/configPut">/,
      )
      assert.ok(!operation(id).includes('price_based_shipping</code>'), id)
    }
    // A choice of texts has no members that could stand elsewhere.
    assert.doesNotMatch(put, /product_class\[\]/)
  })

  test('stands in the full text for programs too', async () => {
    const full = await (await t.request('/docs/llms-full.txt', { key: null })).text()
    const section = full.slice(full.indexOf('\n## PUT /v1/config\n'))
    const end = section.indexOf('\n## ', 4)
    assert.match(
      section.slice(0, end),
      /^- pricing\.rounding: one of none, .*\. how retail prices are rounded$/m,
    )
    assert.match(
      section.slice(0, end),
      /^- distributors\.RSR Group\.shipping: object, required, as distributors\./m,
    )
  })
})
