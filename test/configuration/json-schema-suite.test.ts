/** Our draft-04 validator against the official test suite, kept outside this repository. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { makeValidator } from '../../lib/configuration/check-document.js'

const SUITE = resolve('..', 'shared', 'data', 'jsonschema', 'draft4-suite.tar.xz')
const skip = existsSync(SUITE) ? false : `the suite is not here: ${SUITE}`

interface Group {
  description: string
  schema: object
  tests: { description: string; data: unknown; valid: boolean }[]
}

/**
 * Formats that the configuration does not use and the validator does not know: it ignores them here
 * and refuses them in a schema of ours.
 */
const UNKNOWN_FORMATS = ['date-time', 'hostname', 'ipv4', 'ipv6']

/**
 * Where the library, or a format of ours, answers otherwise: file, group, test, and why. The list
 * is exact.
 */
const DEVIATIONS: Record<string, { why: string; tests: string[] }> = {
  'properties.json': {
    why:
      'the library leaves out a property that a schema calls __proto__; ours has none, and a ' +
      'document with one is refused before',
    tests: ['properties whose names are Javascript object property names: __proto__ not valid'],
  },
  'ref.json': {
    why: 'the library looks at what stands beside a $ref; ours has descriptions there, and one id',
    tests: [
      'ref overrides any sibling keywords: ref valid, maxItems ignored',
      '$ref prevents a sibling id from changing the base uri: $ref resolves to ' +
        '/definitions/base_foo, data does not validate',
      '$ref prevents a sibling id from changing the base uri: $ref resolves to /definitions/base_foo, data validates',
    ],
  },
  'optional/float-overflow.json': {
    why: 'a JavaScript number beyond 2^53 is not a multiple of anything',
    tests: [
      'all integers are multiples of 0.5, if overflow is handled: valid if optional overflow handling is implemented',
    ],
  },
  'optional/zeroTerminatedFloats.json': {
    why: 'JSON.parse does not tell 1.0 from 1',
    tests: [
      'some languages do not distinguish between different types of numeric value: a float is ' +
        'not an integer even without fractional part',
    ],
  },
  'optional/format/email.json': {
    why: 'dots may stand anywhere before the @: mail systems differ, and a wrong refusal is worse',
    tests: [
      'dot before local part is not valid',
      'dot after local part is not valid',
      'two subsequent dots inside local part are not valid',
    ].map((name) => `validation of e-mail addresses: ${name}`),
  },
  'optional/format/uri.json': {
    why:
      'an address is one that a URL parser takes and, unlike RFC 3986, may hold what the parser ' +
      'escapes, but no impossible IPv4',
    tests: [
      'invalid userinfo',
      'unescaped non US-ASCII characters',
      'invalid backslash character',
      'invalid " character',
      'invalid <> characters',
      'invalid {} characters',
      'invalid ^ character',
      'invalid ` character',
      'invalid SPACE character',
      'invalid | character',
      'URI with leading-zero IPv4 is structurally valid as a reg-name',
      'URI with out-of-bounds IPv4 is structurally valid as a reg-name',
      'invalid percent-encoding with non-hex digits',
      'incomplete percent-encoding triplet',
      'lone percent sign is invalid',
      'square brackets are not allowed in a path segment',
    ].map((name) => `validation of URIs: ${name}`),
  },
}

const folder = skip ? '' : unpack()
after(() => {
  if (folder) rmSync(folder, { recursive: true, force: true })
})

function unpack(): string {
  const made = mkdtempSync(join(tmpdir(), 'qm-suite-'))
  const { status, stderr } = spawnSync('tar', ['-xJf', SUITE, '-C', made], { encoding: 'utf8' })
  assert.equal(status, 0, `tar with xz is needed: ${stderr}`)
  return made
}

const filesUnder = (path: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort()
const parsed = (...path: string[]) =>
  JSON.parse(readFileSync(join(folder, ...path), 'utf8')) as unknown

/** Schemas that the suite expects at http://localhost:1234/: those of no draft, and of this one. */
function validatorWithRemotes() {
  const validator = makeValidator({ strict: false, logger: false })
  for (const name of filesUnder(join(folder, 'remotes')).filter(
    (path) => !/^(v1|draft(?!4))/.test(path),
  )) {
    validator.addSchema(parsed('remotes', name) as object, `http://localhost:1234/${name}`)
  }
  return validator
}

/** What the validator makes of a test: its verdict, or why it has none. */
function verdict(schema: object, data: unknown): boolean | string {
  try {
    return validatorWithRemotes().validate(schema, data) as boolean
  } catch (error) {
    return `throws ${(error as Error).message}`
  }
}

describe('the official draft-04 suite', { skip }, () => {
  const files = skip ? [] : filesUnder(join(folder, 'tests', 'draft4'))
  for (const file of files.filter(
    (name) => !UNKNOWN_FORMATS.some((format) => name === `optional/format/${format}.json`),
  )) {
    const { why, tests } = DEVIATIONS[file] ?? { why: '', tests: [] }
    test(`${file}${why && `, but for ${tests.length}: ${why}`}`, () => {
      const groups = parsed('tests', 'draft4', file) as Group[]
      const other = groups.flatMap(({ description, schema, tests }) =>
        tests
          .filter(({ data, valid }) => verdict(schema, data) !== valid)
          .map((one) => `${description}: ${one.description}`),
      )
      assert.deepEqual(other.sort(), tests.toSorted())
    })
  }

  test('is here in full, and no deviation is listed for a file that it has not', () => {
    const count = files.reduce(
      (sum, file) =>
        sum +
        (parsed('tests', 'draft4', file) as Group[]).reduce((n, { tests }) => n + tests.length, 0),
      0,
    )
    assert.deepEqual([files.length, count], [43, 937])
    assert.deepEqual(
      Object.keys(DEVIATIONS).filter((file) => !files.includes(file)),
      [],
    )
  })
})

test('a schema of ours cannot use a format that the validator does not know', () => {
  for (const format of UNKNOWN_FORMATS)
    assert.throws(() => makeValidator().compile({ type: 'string', format }), /unknown format/)
  for (const format of ['email', 'uri'])
    assert.doesNotThrow(() => makeValidator().compile({ type: 'string', format }))
})
