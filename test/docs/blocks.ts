/**
 * What the pages of the guide show: fenced blocks, tables, and answers that are compared with real
 * ones.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const GUIDE = join('data', 'guide')
export const page = (name: string): string => readFileSync(join(GUIDE, name), 'utf8')

export interface Block {
  language: string
  text: string
}

/** The fenced blocks of a page, in order. */
export function blocks(text: string): Block[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, body]) => ({
    language: language!,
    text: body!,
  }))
}

/** The rows of every table under a heading, cell by cell, without the tables' heads. */
export function rows(text: string, heading: string): string[][] {
  const start = text.indexOf(`\n${heading}\n`)
  assert.ok(start >= 0, `no heading "${heading}"`)
  const [section] = text
    .slice(start + heading.length + 2)
    .split(new RegExp(`^#{1,${heading.indexOf(' ')}} `, 'm'))
  const lines = section!.split('\n')
  return lines
    .filter((line, i) => line.startsWith('| ') && !lines[i + 1]?.startsWith('|--'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

/** Members that differ from day to day and machine to machine, and what they look like. */
const CHANGING: Readonly<Record<string, RegExp>> = {
  order_date: /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/,
  ship_date: /^\d{4}-\d\d-\d\d$/,
  expiration_date: /^\d{4}-\d\d-\d\d$/,
  distributor_order_id: /^SIM-[A-Z0-9]+-\d+$/,
  po_number: /^(W-1001-[A-Z0-9]{4}-\d1\d|T3-SIM-REJECT)$/,
  license_number: /^\d-\d\d-\d{3}-\d\d-\d[A-M]-\d{5}$/,
  ffl: /^\d-\d\d-\d{3}-\d\d-\d[A-M]-\d{5}$/,
  ship_company: /^\w+$/,
  ship_tracking_number: /^1ZSIM\d+$/,
  ship_tracking_url:
    /^https:\/\/(track\.example\/|www\.fedex\.com\/fedextrack\/\?trknbr=)1ZSIM\d+$/,
  version: /^\d{8}T\d{6}Z-\d+$/,
  export_version: /^[\w-]{24}$/,
  url: /^http:\/\/127\.0\.0\.1:\d+\/objects\/\S+\?expires=\d+\S*&signature=[\w-]+$/,
}

/**
 * Fails where something that is shown is not in the real answer; members and further list entries
 * may be left out.
 */
export function assertShown(shown: unknown, real: unknown, path = '$', name = ''): void {
  if (Array.isArray(shown)) {
    assert.ok(Array.isArray(real), `${path} is not a list`)
    if (shown.length === 0) assert.deepEqual(real, [], path)
    shown.forEach((value, i) => assertShown(value, (real as unknown[])[i], `${path}[${i}]`))
  } else if (typeof shown === 'object' && shown !== null) {
    assert.ok(
      typeof real === 'object' && real !== null,
      `${path} is not an object, but ${JSON.stringify(real)}`,
    )
    for (const [key, value] of Object.entries(shown)) {
      assert.ok(key in real, `${path}.${key} is not in the answer`)
      assertShown(value, (real as Record<string, unknown>)[key], `${path}.${key}`, key)
    }
  } else if (typeof shown === 'string' && CHANGING[name]) {
    // What is shown was real once, shortened at most.
    if (name !== 'url') assert.match(shown, CHANGING[name], path)
    assert.match(String(real), CHANGING[name], path)
  } else {
    assert.deepEqual(real, shown, path)
  }
}
