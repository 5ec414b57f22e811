/** `rules import`, `diff`, `list` and `test`, as a person or a script calls them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { json, lastLine, run, runProcess } from '../server/launcher.js'

let scratch: string
let dir: string
before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-cli-rules-'))
  dir = join(scratch, 'shop')
  await json(dir, 'init')
  await json(dir, 'subscribers', 'create', '--name', 'Shop', '--email', 'owner@shop.example')
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const rule = (id: string, parts: object = {}) => ({
  rule_id: id,
  kind: 'BLOCK',
  legal_status: 'policy',
  customer_message: 'No.',
  ...parts,
})

function file(...rules: object[]): string {
  const path = join(scratch, 'rules.json')
  writeFileSync(path, `[${rules.map((one) => `\n${JSON.stringify(one)}`).join(',')}\n]`)
  return path
}

describe('rules test', () => {
  test('says when no rule is active', async () => {
    const { status, out } = await run(dir, 'rules', 'test', '--state', 'CA')
    assert.equal(status, 0)
    assert.match(out, /^No rule is active/)
    assert.equal(
      ((await json(dir, 'rules', 'test', '--state', 'CA')) as Record<string, unknown>)[
        'active_rules'
      ],
      0,
    )
  })

  const misused: [args: string[], says: RegExp][] = [
    [['--state', 'ZZ'], /^--state "ZZ" is not a state/],
    [['--state', 'CA', '--class', 'XX'], /^--class "XX" is not a product class; known are AC, /],
    [['--state', 'CA', '--zip', '123'], /^--zip must be 5 digits/],
    [['--state', 'CA', '--zip', '10001'], /^--zip 10001 does not lie in CA/],
    [['--state', 'CA', '--as-of', 'soon'], /^--as-of must be a day as YYYY-MM-DD/],
    [
      ['--state', 'CA', '--attribute', `x=${'9'.repeat(1_001)}`],
      /^--attribute x must have at most 1000 characters/,
    ],
    [['--state', 'CA', '--attribute', 'x'], /^--attribute "x" must be NAME=VALUE/],
    [
      ['--state', 'CA', '--upc', '1'.repeat(41), '--distid', 'X'.repeat(21)],
      /^--upc must have at most 40 characters; --distid must have at most 20 characters/,
    ],
    [['--state', 'CA', '--country', 'USA'], /^--country /],
  ]
  for (const [args, says] of misused) {
    test(`\`${args.join(' ').slice(0, 60)}\` is misused, and said in the words of the options`, async () => {
      const { status, err } = await run(dir, 'rules', 'test', ...args)
      assert.equal(status, 2, err)
      assert.match(err, says)
    })
  }
})

describe('rules import', () => {
  test('shows every fault, one a line, as rules diff does', async () => {
    const path = file(
      rule('good'),
      rule('t-v', { scope: { city: ['Reno'] } }),
      rule('t-k', { kind: 'NO' }),
    )
    for (const command of ['import', 'diff']) {
      const { status, err } = await run(dir, 'rules', command, path)
      assert.deepEqual(
        [status, err.trimEnd().split('\n')],
        [
          1,
          [
            'invalid_parameter: 2 faults',
            'line 3: t-v: scope.state is required where counties or cities are named',
            'line 4: t-k: kind must be one of BLOCK, WARNING, MANUAL_REVIEW',
          ],
        ],
      )
    }
    const { error } = lastLine(
      await runProcess(dir, 'rules', 'import', path, '--json'),
    ) as unknown as { error: { details: unknown[] } }
    assert.equal(error.details.length, 2)
    assert.equal(
      (await run(dir, 'rules', 'import', file(rule('t-k', { kind: 'NO' })))).err,
      'invalid_parameter: line 2: t-k: kind must be one of BLOCK, WARNING, MANUAL_REVIEW\n',
    )
  })

  test('tells which versions hold on, and takes no empty list unless it is forced', async () => {
    assert.equal(
      (
        await run(
          dir,
          'rules',
          'import',
          file(
            rule('a', { effective_to: '2026-12-31' }),
            rule('mags', { scope: { state: ['CA'] }, match: { product_class: ['MG'] } }),
          ),
        )
      ).status,
      0,
    )
    const later = file(rule('a', { version: 2, effective_from: '2027-01-01' }))
    assert.match(
      (await run(dir, 'rules', 'import', later)).out,
      /^~ a\nVersions that stay in force beside the new ones: a 1\.\n/,
    )
    const empty = file()
    for (const more of [[], ['--replace'], ['--dry-run']]) {
      const refused = await run(dir, 'rules', 'import', empty, ...more)
      assert.deepEqual([refused.status, /the list is empty/.test(refused.err)], [1, true])
    }
    assert.equal(
      ((await json(dir, 'rules', 'list')) as unknown as { rules: unknown[] }).rules.length,
      3,
    )
    assert.equal(
      (
        (await json(dir, 'rules', 'import', empty, '--replace', '--force', '--dry-run')) as Record<
          string,
          unknown
        >
      )['rules'],
      0,
    )
  })
})

describe('rules list', () => {
  test('takes a state and a class case aside, and refuses what is none', async () => {
    const ids = async (...args: string[]) =>
      (
        (await json(dir, 'rules', 'list', ...args)) as unknown as { rules: { rule_id: string }[] }
      ).rules.map(({ rule_id: id }) => id)
    assert.deepEqual(
      [
        await ids('--state', 'ca', '--class', 'mg'),
        await ids('--state', 'Nevada'),
        await ids('--class', 'kn'),
      ],
      [
        ['a', 'a', 'mags'],
        ['a', 'a'],
        ['a', 'a'],
      ],
    )
    assert.deepEqual(
      [
        (await run(dir, 'rules', 'list', '--state', 'ZZ')).status,
        (await run(dir, 'rules', 'list', '--class', 'XX')).status,
      ],
      [2, 2],
    )
    assert.equal((await run(dir, 'rules', 'test', '--state', 'ca', '--class', 'mg')).status, 1)
  })
})
