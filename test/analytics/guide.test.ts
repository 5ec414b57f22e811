/** The guide says what the code does. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { analytics } from '../../lib/analytics/endpoints.js'
import { METRICS, SLUGS } from '../../lib/analytics/metrics/index.js'
import { MetricQuery } from '../../lib/analytics/shapes.js'
import { run } from '../server/launcher.js'

const page = readFileSync(join('data', 'guide', 'analytics.md'), 'utf8')
const sectionOf = (slug: string) =>
  page
    .split(/^### /m)
    .find((section) => section.startsWith(`${slug}\n`))!
    .split(/^## /m)[0]!

describe('the guide of the metrics', () => {
  test('has a section for each metric, in the order of the contract', () => {
    assert.deepEqual(
      [...page.matchAll(/^### (.+)$/gm)].map((match) => match[1]),
      SLUGS,
    )
  })

  test("prints each formula as it stands beside its query, and so does the endpoint's documentation", () => {
    for (const { slug, words } of METRICS) {
      assert.ok(sectionOf(slug).split('\n').includes(words), slug)
      assert.ok(analytics.description!.includes(words), slug)
    }
  })

  test('names every measure of each metric, in its order and no other', () => {
    for (const { slug, measures } of METRICS) {
      const [line] = sectionOf(slug)
        .split('\n')
        .filter((text) => text.includes('Beside the item: '))
      assert.deepEqual(
        [...line!.matchAll(/`(\w+)`/g)].map((match) => match[1]),
        Object.keys(measures),
        slug,
      )
    }
  })

  test('a formula names what it filters and sorts by', () => {
    for (const { slug, words, order, orders, least } of METRICS) {
      for (const name of [...order, ...Object.keys(orders ?? {}), ...Object.keys(least ?? {})])
        assert.ok(words.includes(name), `${slug}: ${name}`)
      assert.equal(
        /\bwindow\b/.test(words),
        METRICS.find((metric) => metric.slug === slug)!.hasWindow,
        slug,
      )
    }
  })

  test('the defaults that a formula names are those of the endpoint', () => {
    const { min_7d_units: week, min_30d_units: month, window } = MetricQuery.parse({})
    const { words } = METRICS.find(({ slug }) => slug === 'trending')!
    assert.deepEqual(
      [/min_7d_units \((\d+) /.exec(words)?.[1], /min_30d_units \((\d+)\)/.exec(words)?.[1]],
      [String(week), String(month)],
    )
    assert.deepEqual(
      [...page.matchAll(/`(\d+d)`/g)].map((match) => match[1]),
      MetricQuery.shape.window.unwrap().options,
    )
    assert.equal(window, '7d')
  })

  test('names only commands that there are, with options that they have', async () => {
    const lines = [...page.matchAll(/^quartermaster (analytics \w+)(.*)$/gm)]
    assert.equal(lines.length, 3)
    for (const [, command, rest] of lines) {
      const { status, out } = await run('.', ...command!.split(' '), '--help')
      assert.equal(status, 0)
      for (const option of rest!.match(/--[\w-]+/g) ?? [])
        assert.ok(out.includes(`${option} `), `${command} ${option}`)
    }
  })
})
