/** `fraud stats`, `erase`, `rotate-key` and `partner`, as a person or a script calls them. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  A,
  answer,
  audited,
  B,
  batch,
  changed,
  FARM,
  fileOf,
  HASH,
  HOUSE,
  installation,
  OTHER,
  refuses,
  rows,
  scratch,
  SHARED,
  tell,
  tries,
} from './cli.js'
import { FRESH, contents, json, runProcess, start, stop } from '../server/launcher.js'
import { pattern } from '../harness/pattern.js'

describe('fraud stats', () => {
  test('counts nothing where there is nothing, and makes nothing', async () => {
    const dir = await installation('empty')
    const before = contents(dir)
    assert.equal(await tell(dir, 'stats'), '0 reports by 0 dealers, 0 signals.\n')
    assert.deepEqual(await answer(dir, 'stats'), {
      reports: 0,
      dealers: 0,
      signals: 0,
      first_reported: null,
      last_reported: null,
      by_subscriber: [],
      partners: [],
      under_old_keys: 0,
      unreadable: 0,
    })
    assert.deepEqual(contents(dir), before)
    assert.ok(!existsSync(join(dir, 'keys', 'fraud-keys')))
  })

  test('counts by subscriber and by partner, in a process of its own too', async () => {
    const dir = await installation('stats', [
      [A, HOUSE],
      [A, FARM],
      [B, HOUSE],
    ])
    await tell(dir, 'partner', 'coast', '--key', fileOf('stats.key', `${SHARED.toUpperCase()}\n`))
    await tell(dir, 'import', 'coast', batch('stats.ndjson', { made_at: Date.UTC(2026, 5, 4) }))
    const today = new Date().toISOString().slice(0, 10)
    const said = await tell(dir, 'stats')
    assert.equal(
      said,
      `4 reports by 3 dealers, 5 signals, 2026-06-02 to ${today}.\nsubscriber  reports\n${A}  ` +
        ` 2\n${B}   1\npartner  reports  made_at\ncoast    1        2026-06-04T00:00:00.000Z\n`,
    )
    assert.deepEqual(await runProcess(dir, 'fraud', 'stats'), { status: 0, out: said, err: '' })
    const { by_subscriber: shops, partners, reports, dealers } = await answer(dir, 'stats')
    assert.deepEqual(
      { shops, partners, reports, dealers },
      {
        shops: [
          { subscriber: A, reports: 2 },
          { subscriber: B, reports: 1 },
        ],
        partners: [{ partner: 'coast', reports: 1, made_at: '2026-06-04T00:00:00.000Z' }],
        reports: 4,
        dealers: 3,
      },
    )
  })
})

describe('fraud quotas', () => {
  test('says what a key may, and what each has used of it in the last 24 hours', async () => {
    const dir = await installation('quotas')
    const limits = { checks: 1_000, reports: 25, removals: 25 }
    const may = 'In any 24 hours a key may send 1,000 checks, 25 reports and 25 removals.\n'
    assert.equal(await tell(dir, 'quotas'), `${may}No key has sent one in the last 24 hours.\n`)
    assert.deepEqual(await answer(dir, 'quotas'), { limits, keys: [] })
    const make = (name: string) =>
      json(dir, 'keys', 'create', '--subscriber', A, '--name', name, '--ip', '127.0.0.1')
    const [web, desk] = [await make('web shop'), await make('desk')]
    const { child, first } = await start(dir, 'serve', '--port', '0')
    const send = async (key: string, method: string, path: string) => {
      const { status } = await fetch(`${first.url}/v1/fraud/${path}`, {
        method,
        headers: { ...FRESH, 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify(HOUSE),
      })
      assert.equal(status, 200)
    }
    await send(desk['key']!, 'POST', 'check')
    for (const path of ['reports', 'check', 'check']) await send(web['key']!, 'POST', path)
    await send(web['key']!, 'DELETE', 'reports')
    const used = [
      { key: web['id'], name: 'web shop', subscriber: A, checks: 2, reports: 1, removals: 1 },
      { key: desk['id'], name: 'desk', subscriber: A, checks: 1, reports: 0, removals: 0 },
    ]
    assert.deepEqual(await answer(dir, 'quotas'), { limits, keys: used })
    await stop(child)
    const [head, one, other] = (await tell(dir, 'quotas')).replace(may, '').split('\n')
    assert.match(head!, /^key +name +subscriber +checks +reports +removals$/)
    assert.match(one!, /^\S+ +web shop +Arms of A +2 +1 +1$/)
    assert.match(other!, /^\S+ +desk +Arms of A +1 +0 +0$/)
  })
})

describe('fraud erase', () => {
  test('removes the reports of one subscriber alone', async () => {
    const dir = await installation('erase', [
      [A, HOUSE],
      [A, FARM],
      [B, HOUSE],
    ])
    assert.equal(
      await tries(dir, 'erase', '--subscriber', A),
      `2 reports of ${A} would be removed.\n`,
    )
    assert.equal(
      await tell(dir, 'erase', '--subscriber', A.toLowerCase()),
      `2 reports of ${A} are removed, with all that was kept of them.\n`,
    )
    assert.deepEqual(
      [
        rows(dir, 'SELECT count(*) FROM fraud_report'),
        rows(dir, 'SELECT count(*) FROM fraud_signal'),
      ],
      [[1n], [3n]],
    )
    assert.deepEqual(await answer(dir, 'erase', '--subscriber', B), {
      subscriber: B,
      removed: 1,
      dry_run: false,
    })
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_evidence'), [0n])
    assert.deepEqual(audited(dir), [
      `cli fraud erase {"subscriber":"${A}","removed":2}`,
      `cli fraud erase {"subscriber":"${B}","removed":1}`,
    ])
    await refuses(
      dir,
      ['erase', '--subscriber', 'Nobody'],
      'not_found',
      /^not_found: there is no subscriber "Nobody"; `subscribers list` shows them$/,
    )
    await refuses(
      dir,
      ['erase'],
      'usage',
      /^--subscriber is missing\. For example: quartermaster fraud erase --subscriber /,
    )
  })
})

describe('fraud rotate-key', () => {
  test("keeps what was reported here under a new key, and leaves a partner's", async () => {
    const dir = await installation('rotate', [
      [A, HOUSE],
      [B, FARM],
    ])
    await tell(dir, 'partner', 'coast', '--key', fileOf('rotate.key', SHARED))
    await tell(dir, 'import', 'coast', batch('rotate.ndjson', {}))
    assert.equal(
      await tries(dir, 'rotate-key'),
      'A new key would be made, and the signals of 2 reports kept under it.\n',
    )
    const keys = join(dir, 'keys', 'fraud-keys')
    const [old, hashes] = [
      readFileSync(keys, 'utf8'),
      rows(dir, `SELECT hash FROM fraud_signal WHERE hash <> ${HASH}`),
    ]
    assert.equal(
      await tell(dir, 'rotate-key'),
      'The signals of 2 reports are kept under a new key.\n',
    )
    assert.match(readFileSync(keys, 'utf8'), /^2 [0-9a-f]{64}\n$/)
    assert.ok(!readFileSync(keys, 'utf8').includes(old.trim().slice(2)))
    assert.equal(
      rows(dir, 'SELECT hash FROM fraud_signal').some((hash) => hashes.includes(hash)),
      false,
    )
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_signal'), [BigInt(hashes.length + 1)])
    assert.deepEqual(await answer(dir, 'rotate-key'), { reports: 2, unreadable: 0 })
    assert.deepEqual(audited(dir).slice(2), [
      'cli fraud rotate-key {"reports":2,"unreadable":0}',
      'cli fraud rotate-key {"reports":2,"unreadable":0}',
    ])
    writeFileSync(keys, 'x')
    await refuses(
      dir,
      ['rotate-key'],
      'failed',
      /fraud-keys is damaged: restore it from your own copy, or remove it and run `fraud rotate-key`$/,
    )
  })

  test('names how many cannot be opened, and keeps their key', async () => {
    const dir = await installation('unreadable', [
      [A, HOUSE],
      [B, FARM],
    ])
    changed(dir, "UPDATE fraud_report SET payload = '' WHERE id = 1")
    assert.match(
      await tell(dir, 'rotate-key'),
      /^The signals of 1 reports are kept under a new key\. 1 cannot be opened and stay under the old one/,
    )
    assert.match(
      readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8'),
      /^1 [0-9a-f]{64}\n2 [0-9a-f]{64}\n$/,
    )
    assert.match(
      await tell(dir, 'stats'),
      /^1 reports cannot be opened, and stay under an old key; the log names them\.$/m,
    )
    // They do not stand in the way of the next new key.
    assert.deepEqual(await answer(dir, 'rotate-key'), { reports: 1, unreadable: 1 })
    assert.match(
      readFileSync(join(dir, 'keys', 'fraud-keys'), 'utf8'),
      /^1 [0-9a-f]{64}\n3 [0-9a-f]{64}\n$/,
    )
    assert.deepEqual(
      rows(dir, 'SELECT count(*) FROM fraud_evidence WHERE own = 0'),
      [0n],
      'nothing is left under the keys between',
    )
  })
})

describe('fraud partner', () => {
  test('keeps the key for its owner alone, and shows it to nobody', async () => {
    const dir = await installation('partner')
    const file = fileOf('partner.key', ` ${SHARED.toUpperCase()}\n`)
    assert.equal(
      await tries(dir, 'partner', 'coast', '--key', file),
      'The key of coast would be kept.\n',
    )
    assert.match(
      await tell(dir, 'partner', 'coast', '--key', file),
      /^The key of coast is kept\. Send it to nobody else/,
    )
    const kept = join(dir, 'keys', 'fraud-partner-coast')
    assert.deepEqual(
      [readFileSync(kept, 'utf8').trim(), statSync(kept).mode & 0o777],
      [SHARED, 0o600],
    )
    assert.deepEqual(
      await answer(dir, 'partner', 'lakes-2', '--key', fileOf('lakes-2.key', OTHER)),
      { partner: 'lakes-2', dry_run: false },
    )
    assert.deepEqual(audited(dir), [
      'cli fraud partner {"name":"coast"}',
      'cli fraud partner {"name":"lakes-2"}',
    ])
  })

  test('is refused with what is wrong, and what to do', async () => {
    const dir = await installation('no-partner')
    const good = fileOf('good.key', SHARED)
    await tell(dir, 'partner', 'coast', '--key', good)
    const refused: [args: string[], code: 'usage' | 'invalid_parameter', says: RegExp][] = [
      [
        [],
        'usage',
        /^<PARTNER> is missing\. For example: quartermaster fraud partner coast --key /,
      ],
      [['lakes'], 'usage', /^--key is missing\. For example: quartermaster fraud partner /],
      [['lakes', '--key', ''], 'usage', /^--key is missing/],
      [
        ['lakes', '--key', join(scratch, 'nowhere')],
        'invalid_parameter',
        /: key: cannot read .*nowhere$/,
      ],
      [['lakes', '--key', scratch], 'invalid_parameter', /: key: cannot read /],
      [
        ['lakes', '--key', fileOf('short.key', SHARED.slice(1))],
        'invalid_parameter',
        /: key: .*short\.key must hold 64 hex digits, .*`openssl rand -hex 32` makes them$/,
      ],
      [
        ['lakes', '--key', fileOf('two.key', `${SHARED}\n${OTHER}`)],
        'invalid_parameter',
        /must hold 64 hex digits/,
      ],
      ...['Lakes', 'the lakes', '../lakes', 'x'.repeat(41)].map(
        (name): (typeof refused)[number] => [
          [name, '--key', fileOf('other.key', OTHER)],
          'invalid_parameter',
          /: partner: the name of a partner is 1 to 40 small letters, digits and dashes$/,
        ],
      ),
      [
        ['lakes', '--key', good],
        'invalid_parameter',
        /: partner: this key is shared with coast already: agree on another one with each partner$/,
      ],
      ...[good, fileOf('other.key', OTHER)].map((key): (typeof refused)[number] => [
        ['coast', '--key', key],
        'invalid_parameter',
        pattern(
          /: partner: "coast" is a partner already; to give it another key, /,
          /remove .*keys\/fraud-partner-coast first, and take in a new batch after$/,
        ),
      ]),
    ]
    for (const [args, code, says] of refused) await refuses(dir, ['partner', ...args], code, says)
    assert.equal(audited(dir).length, 1)
  })

  test('gets another key in the way that the refusal says', async () => {
    const dir = await installation('rekeyed')
    await tell(dir, 'partner', 'coast', '--key', fileOf('first.key', SHARED))
    await tell(dir, 'import', 'coast', batch('under-first.ndjson', {}))
    rmSync(join(dir, 'keys', 'fraud-partner-coast'))
    await tell(dir, 'partner', 'coast', '--key', fileOf('second.key', OTHER))
    const second = batch('under-second.ndjson', { made_at: Date.now() + 1 }, { secret: OTHER })
    assert.deepEqual(await answer(dir, 'import', 'coast', second), {
      partner: 'coast',
      reports: 1,
      dealers: 1,
      removed: 1,
      dry_run: false,
    })
    assert.deepEqual(rows(dir, 'SELECT count(*) FROM fraud_report'), [1n])
  })
})

describe('fraud partner --remove', () => {
  test('ends a partnership: its key, what came from it and what was kept for it go', async () => {
    const dir = await installation('ended', [[A, HOUSE]])
    await tell(dir, 'partner', 'coast', '--key', fileOf('ended.key', SHARED))
    await tell(dir, 'import', 'coast', batch('ended.ndjson', {}))
    assert.notDeepEqual(rows(dir, 'SELECT count(*) FROM fraud_evidence WHERE own = 0'), [0n])
    assert.equal(
      await tries(dir, 'partner', 'coast', '--remove'),
      'The key of coast and 1 reports that came from it would be removed.\n',
    )
    assert.equal(
      await tell(dir, 'partner', 'coast', '--remove'),
      'The key of coast and 1 reports that came from it are removed.\n',
    )
    assert.ok(!existsSync(join(dir, 'keys', 'fraud-partner-coast')))
    assert.deepEqual(
      [
        'SELECT count(*) FROM fraud_report',
        'SELECT count(*) FROM fraud_partner',
        'SELECT count(*) FROM fraud_evidence WHERE own = 0',
      ].map((sql) => rows(dir, sql)),
      [[1n], [0n], [0n]],
    )
    assert.deepEqual(audited(dir).at(-1), 'cli fraud partner remove {"name":"coast","reports":1}')
    await refuses(
      dir,
      ['partner', 'coast', '--remove'],
      'invalid_parameter',
      /: partner: "coast" is not a partner; known are none; `fraud partner` makes one$/,
    )
    await refuses(
      dir,
      ['partner', 'coast', '--remove', '--key', join(scratch, 'ended.key')],
      'invalid_parameter',
      /: remove: a key is kept or a partnership ended, not both$/,
    )
    // Whoever it is by now: nothing is known of it.
    await tell(dir, 'partner', 'coast', '--key', join(scratch, 'ended.key'))
    assert.deepEqual(
      await answer(
        dir,
        'import',
        'coast',
        batch('begun.ndjson', { made_at: Date.UTC(2026, 5, 4), installation: '00'.repeat(16) }),
      ),
      { partner: 'coast', reports: 1, dealers: 1, removed: 0, dry_run: false },
    )
  })
})
