import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSaved } from '../../lib/configuration/secrets.js'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import { openForTest as open } from '../../server/testing/open.js'
import {
  LAUNCHER,
  contents,
  get,
  json,
  lastLine,
  run,
  start,
  startProcess,
  stop,
} from '../server/launcher.js'
import { hearStream } from '../server/process-errors.js'
import type { Run } from '../server/launcher.js'
import { pattern } from '../harness/pattern.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-config-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** As `runProcess`, with more environment or something on standard input. */
function runWith(
  dir: string,
  options: { env?: Record<string, string>; input?: string | Buffer },
  ...args: string[]
): Promise<Run> {
  return startProcess([...args, '--dir', dir], options)
}

/** Writes a document, or any text, and returns the file's path. */
function fileOf(name: string, content: unknown): string {
  const path = join(scratch, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const RIFLE = '012345678905'
const SCOPE = '012345678912'

const DAVIDSONS = [
  'Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type',
  `R0,A rifle,400.00,5,${RIFLE},RIFLE: BOLT ACTION`,
  `R1,A scope,90.00,1,${SCOPE},OPTICS`,
  'R2,Another rifle,500.00,2,012345678929,RIFLE: BOLT ACTION',
  '',
].join('\n')
const RSR = `I,Q,P,UPC\n100,5,395.50,${RIFLE}\n`

/**
 * A folder with one shop, three offers of Davidson's and one of RSR's; and these documents, if any,
 * saved.
 */
async function makeShop(name: string, ...documents: unknown[]): Promise<string> {
  const dir = join(scratch, name)
  await using app = await open({ dir, worker: false })
  await app.operator.subscribers.create({ name: 'Main Street', email: 'owner@shop.example' })
  await app.operator.feeds.import({ distid: 'DAV', file: fileOf('dav.csv', DAVIDSONS) }, {})
  await app.operator.feeds.import(
    { distid: 'RSR', preset: 'sports-south', file: fileOf('rsr.csv', RSR) },
    {},
  )
  for (const document of documents)
    await app.operator.configurations.put('Main Street', { document })
  return dir
}

type Document = Record<string, unknown> & {
  distributors: Record<string, Record<string, unknown>>
  targets: Record<string, Record<string, unknown>>
  pricing: Record<string, unknown>
}

/** A document that fits: Davidson's, and RSR with these credentials. */
function documentOf({
  user = 99_901,
  password = 'demo-rsr',
  restrictions = { min_quantity_to_list: 1 },
}: { user?: number; password?: unknown; restrictions?: unknown } = {}): Document {
  const entry = (distid: string, more: object = {}) => ({
    active: true,
    distid,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 20, shipping_class: 'flat' } },
    product_restrictions: restrictions,
    ...more,
  })
  return {
    distributors: {
      Davidsons: entry('DAV'),
      'RSR Group': entry('RSR', { fulfillment: { API_USER: user, API_PASSWORD: password } }),
    },
    targets: {},
    notification_email: 'owner@shop.example',
    pricing: { rounding: 'none' },
    product_restrictions: {},
  }
}

interface Explained {
  offers: {
    distid: string
    visible: boolean
    unit_price: number | null
    hidden_by: { pointer: string | null; reason: string }[]
  }[]
}
const explain = async (dir: string, upc: string) =>
  ((await json(dir, 'catalog', 'explain', upc)) as unknown as Explained).offers

/** The failed run of a --json command: its code, message and details. */
function errorOf(failed: Run) {
  assert.deepEqual(Object.keys(lastLine(failed)), ['error'])
  return lastLine(failed)['error'] as unknown as {
    code: string
    message: string
    details?: unknown
  }
}

describe('a configuration on the command line', () => {
  let dir: string
  const config = (...args: string[]) => run(dir, 'config', ...args)

  test('starts from the empty document of a shop that has saved none', async () => {
    dir = join(scratch, 'shop')
    await json(dir, 'init')
    await json(
      dir,
      'subscribers',
      'create',
      '--name',
      'Main Street',
      '--email',
      'owner@shop.example',
    )
    await json(dir, 'feeds', 'import', 'DAV', fileOf('dav.csv', DAVIDSONS))
    await json(dir, 'feeds', 'import', 'RSR', fileOf('rsr.csv', RSR), '--preset', 'sports-south')
    const read = (await json(dir, 'config', 'get')) as unknown as {
      subscriber: string
      version: number
      etag: string
      configuration: unknown
    }
    assert.deepEqual(Object.keys(read), ['subscriber', 'version', 'etag', 'configuration'])
    assert.deepEqual([read.subscriber, read.version], ['Main Street', 0])
    assert.deepEqual(JSON.parse((await config('get')).out), read.configuration)
    assert.deepEqual(await json(dir, 'config', 'history'), {
      subscriber: 'Main Street',
      versions: [],
    })
    assert.match((await config('validate')).out, /is valid, but no distributor is active/)
    assert.match((await explain(dir, RIFLE))[0]!.hidden_by[0]!.reason, /not configured/)
  })

  test('is saved, and what its new credentials are worth is known when the command ends', async () => {
    const saved = await config('put', fileOf('first.json', { configuration: documentOf() }))
    assert.equal(saved.status, 0, saved.err)
    assert.match(
      saved.out,
      /^Version 1 of the configuration of Main Street is saved\.\nLive catalog: empty/,
    )
    assert.match(
      saved.out,
      /Asking RSR Group about the new credentials\.\.\.\n.*\nRSR +RSR Group +valid\n$/,
    )
    assert.deepEqual(
      (await explain(dir, RIFLE)).map(({ distid, visible, unit_price: price }) => [
        distid,
        visible,
        price,
      ]),
      [
        ['DAV', true, 400],
        ['RSR', true, 395.5],
      ],
    )
  })

  test('is read back masked, and a masked one keeps the credentials', async () => {
    const file = join(scratch, 'read.json')
    assert.match((await config('get', '--out', file, '--dry-run')).out, /would be written/)
    assert.ok(!existsSync(file))
    assert.match((await config('get', '--out', file)).out, /^Version 1 is written to /)
    const read = JSON.parse(readFileSync(file, 'utf8')) as Document
    assert.deepEqual(read.distributors['RSR Group']!['fulfillment'], {
      API_USER: 99_901,
      API_PASSWORD: '********',
    })
    read.pricing['rounding'] = 'round_up_to_99_cents'
    read.targets['woo'] = {
      active: true,
      'consumer-key': 'ck',
      alerts: { delete_threshold_percent: 0.1 },
    }
    writeFileSync(file, JSON.stringify(read))
    const saved = (await json(
      dir,
      'config',
      'put',
      file,
      '--if-version',
      '1',
      '--validate',
    )) as unknown as {
      version: number
      impact: { live: number; deleted: number }
      credentials: unknown[]
    }
    assert.deepEqual(
      [saved.version, saved.impact.live, saved.impact.deleted, saved.credentials],
      [2, 4, 0, []],
    )
    assert.ok((await explain(dir, RIFLE)).every(({ visible }) => visible))
  })

  test('is validated with live checks, and a file against the schema alone', async () => {
    const { status, out } = await config('validate')
    assert.equal(status, 0)
    assert.match(
      out,
      /^distid +distributor +credentials\nDAV +Davidsons +valid\nRSR +RSR Group +valid\n/,
    )
    assert.match(out, /The configuration of Main Street is valid\.\n$/)
    const report = (await json(dir, 'config', 'validate')) as unknown as {
      valid: boolean
      credentials: unknown[]
      schema_errors: unknown[]
      warnings: string[]
    }
    assert.deepEqual([report.valid, report.credentials.length, report.schema_errors], [true, 2, []])
    assert.deepEqual(
      await json(dir, 'config', 'validate', fileOf('candidate.json', documentOf())),
      { subscriber: 'Main Street', dry_run: true, schema_valid: true, errors: [] },
    )
    assert.match((await config('validate', join(scratch, 'candidate.json'))).out, /fits the schema/)
  })

  test('differs from its last version by lines that a person can read', async () => {
    const { out } = await config('diff')
    assert.deepEqual(out.trim().split('\n').sort(), [
      '+ /targets/woo: {"active":true,"consumer-key":"********","alerts":{"delete_threshold_percent":0.1}}',
      '~ /pricing/rounding: "none" -> "round_up_to_99_cents"',
    ])
    const back = (await json(dir, 'config', 'diff', '2', '1')) as unknown as {
      from: number
      to: number
      differences: { path: string; change: string }[]
    }
    assert.deepEqual(
      [back.from, back.to, back.differences.map(({ change, path }) => `${change} ${path}`).sort()],
      [2, 1, ['changed /pricing/rounding', 'removed /targets/woo']],
    )
    assert.match((await config('diff', '2', '1')).out, /^- \/targets\/woo: /m)
    assert.equal((await config('diff', '2')).out, 'Versions 2 and 2 do not differ.\n')
  })

  test('that would take too much away is told, and refused on request', async () => {
    const file = fileOf('loss.json', documentOf({ restrictions: { min_quantity_to_list: 3 } }))
    const tried = await config('put', file, '--dry-run')
    assert.match(
      tried.out,
      pattern(
        /would be saved\.\nLive catalog: 2 of 4 offers go \(50 %\), 2 are listed after it\.\n/,
        /Warning: that is more than the delete threshold of 10 % allows; .*\n.*\n/,
        /DAV +Davidsons +3 +1 +2\n/,
      ),
    )
    const refused = await config('put', file, '--validate', '--json')
    assert.equal(refused.status, 1)
    const { code, message, details } = errorOf(refused)
    assert.deepEqual(
      [code, message],
      [
        'validation_failed',
        'The document would remove 2 of 4 live offers (50 %); the delete threshold allows 10 %.',
      ],
    )
    assert.deepEqual((details as { by_distributor: unknown[] }).by_distributor[0], {
      distid: 'DAV',
      distributor: 'Davidsons',
      deleted: 2,
      live: 3,
      deleted_percent: 0.666667,
    })
    assert.equal((await json(dir, 'config', 'get'))['version'], 2)
    assert.equal((await json(dir, 'config', 'put', file))['version'], 3)
    assert.match((await config('validate')).out, /is valid/)
  })

  test('explains what it hides', async () => {
    const { status, out } = await run(dir, 'catalog', 'explain', SCOPE)
    assert.equal(status, 0)
    assert.equal(
      out,
      [
        `Main Street sees 0 of the one offer of ${SCOPE}.`,
        'DAV R1, A scope: hidden, 90.00, 1 in stock',
        '  - /distributors/Davidsons/product_restrictions/min_quantity_to_list: one is in ' +
          'stock, fewer than the 3 of min_quantity_to_list',
        '',
      ].join('\n'),
    )
    assert.deepEqual(
      (await explain(dir, SCOPE))[0]!.hidden_by.map(({ pointer }) => pointer),
      ['/distributors/Davidsons/product_restrictions/min_quantity_to_list'],
    )
    assert.match(
      (await run(dir, 'catalog', 'explain', RIFLE)).out,
      pattern(
        /^Main Street sees 2 of the 2 offers of .*\nDAV R0, A rifle: visible, 400\.00, /,
        /5 in stock\nRSR 100, .*: visible, 395\.50, 5 in stock\n/,
        /  - borrows class FA with ffl_req 1 from DAV R0; /,
        /texts that its own feed lacks from DAV R0\n$/,
      ),
    )
  })

  test('goes back to an earlier version, whose credentials come with it', async () => {
    const other = (await json(
      dir,
      'config',
      'put',
      fileOf('other.json', documentOf({ password: 'no such password' })),
    )) as unknown as { version: number; credentials: unknown }
    assert.deepEqual(
      [other.version, other.credentials],
      [4, [{ distid: 'RSR', distributor: 'RSR Group', valid: false }]],
    )
    assert.deepEqual(
      (await explain(dir, RIFLE)).map(({ distid, visible }) => [distid, visible]),
      [
        ['DAV', true],
        ['RSR', false],
      ],
    )
    assert.equal((await config('validate')).status, 1)
    assert.match(
      (await config('diff')).out,
      /^~ \/distributors\/RSR Group\/fulfillment\/API_PASSWORD: \*{8} -> \*{8}$/m,
    )
    assert.match(
      (await config('rollback', '3', '--dry-run')).out,
      pattern(
        /would be saved\.\nLive catalog: 2 of 3 offers go .*\n/,
        /[^]*These would be asked about the new credentials: RSR Group\.\n$/,
      ),
    )
    assert.match(
      (await config('rollback', '3', '--validate')).err,
      /^validation_failed: The document would remove 2 of 3 live offers/,
    )
    const back = await config('rollback', '2', '--validate')
    assert.equal(back.status, 0, back.err)
    assert.match(back.out, /^Version 5 of the configuration of Main Street is saved\./)
    assert.match(back.out, /RSR +RSR Group +valid/)
    assert.equal((await config('diff', '2')).out, 'Versions 2 and 5 do not differ.\n')
    assert.ok((await explain(dir, RIFLE)).every(({ visible }) => visible))
    const { versions } = (await json(dir, 'config', 'history')) as unknown as {
      versions: { version: number; saved_at: string; saved_by: string }[]
    }
    assert.deepEqual(
      versions.map(({ version, saved_by: by }) => [version, by]),
      [5, 4, 3, 2, 1].map((version) => [version, 'cli']),
    )
    assert.match(
      (await config('history')).out,
      /^version +saved_at +saved_by\n5 +\d{4}-\d\d-\d\dT[\d:.]+Z +cli\n/,
    )
    const first = (await json(dir, 'config', 'get', '--version', '1')) as unknown as {
      version: number
      etag: null
      configuration: Document
    }
    assert.deepEqual(
      [first.version, first.etag, first.configuration.pricing],
      [1, null, { rounding: 'none' }],
    )
    assert.notEqual((await json(dir, 'config', 'get', '--version', '5'))['etag'], null)
  })

  test('may come from standard input, with the mark of a Windows editor, bare or wrapped', async () => {
    const bare = JSON.stringify(documentOf())
    for (const input of [bare, `\uFEFF${bare}`, Buffer.from(`{"configuration":${bare}}`)]) {
      const { status, out, err } = await runWith(
        dir,
        { input },
        'config',
        'put',
        '-',
        '--dry-run',
        '--json',
      )
      assert.equal(status, 0, err)
      assert.deepEqual((JSON.parse(out) as { impact: { deleted: number } }).impact.deleted, 0)
    }
    assert.equal((await runWith(dir, { input: bare }, 'config', 'validate', '-')).status, 0)
  })

  test('belongs to the only shop, or to the one that is named', async () => {
    await json(dir, 'subscribers', 'create', '--name', 'Second', '--email', 'owner@second.example')
    const file = join(scratch, 'candidate.json')
    for (const args of [
      ['config', 'get'],
      ['config', 'put', file],
      ['config', 'validate'],
      ['config', 'history'],
      ['config', 'diff'],
      ['config', 'rollback', '1'],
      ['catalog', 'explain', RIFLE],
    ]) {
      const [refused, unknown] = [
        await run(dir, ...args, '--json'),
        await run(dir, ...args, '--subscriber', 'Nobody', '--json'),
      ]
      assert.equal(refused.status, 2, args.join(' '))
      assert.match(
        refused.err,
        pattern(
          /^which subscriber\? Name one with --subscriber: "Main Street" \(s_[0-9a-f]{16}\), /,
          /"Second" \(s_[0-9a-f]{16}\)\n$/,
        ),
      )
      assert.equal(errorOf(refused).code, 'usage')
      assert.deepEqual([unknown.status, errorOf(unknown).code], [1, 'not_found'])
    }
    assert.equal((await json(dir, 'config', 'get', '--subscriber', 'second'))['version'], 0)
    assert.equal((await json(dir, 'config', 'get', '--subscriber', 'Main Street'))['version'], 5)
    assert.match(
      (await run(dir, 'config', 'diff', '--subscriber', 'Second')).err,
      /no saved configuration yet/,
    )
  })
})

describe('a command that cannot do what it was asked', () => {
  let dir: string
  let untouched: Record<string, unknown>

  const files: Record<string, unknown> = {
    GOOD: documentOf(),
    EMPTY: ' \n',
    CUT: '{"targets": {',
    COMMA: '{\n  "a": [1, 2, ]\n}',
    WORD: '{\n  "a": 1,\n  "b": hunter\n}',
    QUOTE: '{\n "a": "x\n}',
    MISSING: '{"a" 1}',
    TAIL: '{} x',
    LIST: [1],
    DEEP: '['.repeat(100) + ']'.repeat(100),
    CONTROL: { ...documentOf(), targets: { a: { active: true, x: 'a\u0007b' } } },
    BESIDE: { configuration: {}, more: 1 },
    LARGE: { ...documentOf(), targets: { a: { active: true, x: 'x'.repeat(1_100_000) } } },
    FAULTY: {
      ...documentOf(),
      pricing: { rounding: 'up', margin: { default: {} } },
      notification_email: 'nobody',
      extra: 1,
    },
    MASKED: { ...documentOf(), targets: { woo: { active: true, 'consumer-secret': '********' } } },
  }
  const named = (args: readonly string[]) =>
    args.map((arg) => (Object.hasOwn(files, arg) ? join(scratch, arg) : arg))

  test('has a shop to be refused by', async () => {
    dir = await makeShop('refusals', documentOf())
    for (const [name, content] of Object.entries(files)) fileOf(name, content)
    untouched = contents(dir)
  })

  const refused: [args: string[], code: string, says: RegExp][] = [
    [['config', 'put', 'nowhere.json'], 'invalid_parameter', /cannot read nowhere\.json$/],
    [['config', 'put', '.'], 'invalid_parameter', /cannot read \.: it is a folder/],
    [['config', 'put', 'EMPTY'], 'invalid_json', /EMPTY is empty$/],
    [['config', 'put', 'CUT'], 'invalid_json', /not valid JSON: it ends too early$/],
    [['config', 'put', 'COMMA'], 'invalid_json', /not valid JSON: line 2, column 15$/],
    [['config', 'put', 'WORD'], 'invalid_json', /not valid JSON: line 3, column 8$/],
    [['config', 'put', 'QUOTE'], 'invalid_json', /not valid JSON: line 2, column 9$/],
    [['config', 'put', 'MISSING'], 'invalid_json', /not valid JSON: line 1, column 6$/],
    [['config', 'put', 'TAIL'], 'invalid_json', /not valid JSON: line 1, column 4$/],
    [['config', 'put', 'DEEP'], 'invalid_json', /nests deeper than 64 levels$/],
    [
      ['config', 'put', 'CONTROL'],
      'invalid_parameter',
      /targets\.a\.x: holds the control character U\+0007/,
    ],
    [['config', 'put', 'BESIDE'], 'invalid_parameter', /more: stands beside configuration/],
    [['config', 'put', 'LARGE'], 'payload_too_large', /larger than 1 MB/],
    [
      ['config', 'put', 'LIST'],
      'schema_validation_failed',
      /^the document must be a JSON object$/m,
    ],
    [
      ['config', 'put', 'MASKED'],
      'schema_validation_failed',
      pattern(
        /^\/targets\/woo\/consumer-secret: `targets\.woo\.consumer-secret` stands for a stored /m,
        /secret, but none is stored here/,
      ),
    ],
    [
      ['config', 'put', 'GOOD', '--if-version', '7'],
      'precondition_failed',
      /version 1 is saved, not version 7/,
    ],
    [
      ['config', 'put', 'GOOD', '--if-version', 'x'],
      'usage',
      /--if-version must be the number of a version/,
    ],
    [['config', 'put', 'GOOD', '--if-version', ''], 'usage', /--if-version must not be empty/],
    [['config', 'put'], 'usage', /<FILE> is missing/],
    [['config', 'validate', 'nowhere.json'], 'invalid_parameter', /cannot read/],
    [['config', 'get', '--version', '9'], 'not_found', /no version 9/],
    [['config', 'get', '--version', '-1'], 'usage', /is not given a value/],
    [
      ['config', 'get', '--out', 'no/such/folder/x.json'],
      'invalid_parameter',
      /cannot write no\/such\/folder\/x\.json \(ENOENT\)/,
    ],
    [['config', 'diff'], 'not_found', /has version 1 of its configuration only/],
    [['config', 'diff', '1', '2'], 'not_found', /no version 2/],
    [['config', 'diff', 'a'], 'usage', /\[FROM\] must be the number/],
    [['config', 'rollback', '2'], 'not_found', /no version 2/],
    [['config', 'rollback', 'last'], 'usage', /<VERSION> must be the number/],
    [['catalog', 'explain', '00000000'], 'not_found', /no feed has the UPC 00000000/],
    [['catalog', 'explain', '12'], 'invalid_parameter', /"12" is not a UPC/],
  ]
  for (const [args, code, says] of refused) {
    test(`\`${args.join(' ')}\` says why`, async () => {
      // A file that cannot be read is refused before anybody asks what it is for.
      const writes =
        (args[1] === 'put' || args[1] === 'rollback') && !/^(usage|invalid_|payload_)/.test(code)
      const [real, dry] = [
        await run(dir, ...named(args), '--json'),
        writes ? await run(dir, ...named(args), '--json', '--dry-run') : null,
      ]
      assert.equal(real.status, code === 'usage' ? 2 : 1)
      assert.match(real.err.trim(), says)
      assert.equal(errorOf(real).code, code)
      if (dry) assert.deepEqual(dry, real)
    })
  }

  test('tells every fault of a document on its own line, and in its details', async () => {
    const [people, programs] = [
      await run(dir, 'config', 'put', join(scratch, 'FAULTY')),
      await run(dir, 'config', 'put', join(scratch, 'FAULTY'), '--json'),
    ]
    const [head, ...lines] = people.err.trim().split('\n')
    assert.equal(head, 'schema_validation_failed: the configuration does not fit its schema')
    const details = errorOf(programs).details as { path: string; message: string }[]
    assert.deepEqual(
      lines,
      details.map(({ path, message }) => `${path}: ${message}`),
    )
    assert.deepEqual(details.map(({ path }) => path).sort(), [
      '/extra',
      '/notification_email',
      '/pricing/margin/default',
      '/pricing/rounding',
    ])
    const checked = await run(dir, 'config', 'validate', join(scratch, 'FAULTY'))
    assert.deepEqual([checked.status, checked.out.split('\n').slice(0, 4)], [1, lines])
    assert.deepEqual(
      lastLine(await run(dir, 'config', 'validate', join(scratch, 'FAULTY'), '--json')),
      { subscriber: 'Main Street', dry_run: true, schema_valid: false, errors: details },
    )
  })

  test('says so where there is no feed and no shop yet', async () => {
    const empty = join(scratch, 'empty')
    await json(empty, 'init')
    assert.match(
      (await run(empty, 'config', 'get')).err,
      /there is no subscriber yet; `subscribers create`/,
    )
    await json(empty, 'subscribers', 'create', '--name', 'A', '--email', 'a@b.example')
    const refused = await run(empty, 'catalog', 'explain', RIFLE)
    assert.deepEqual(
      [refused.status, refused.err],
      [1, 'feed_unavailable: No feed has been taken in yet.\n'],
    )
  })

  test('leaves everything as it was', () => {
    assert.deepEqual(contents(dir), untouched)
  })
})

describe('--dry-run of a configuration', () => {
  test('tells what would happen and changes nothing, not even what is known of the credentials', async () => {
    const dir = await makeShop(
      'dry',
      documentOf(),
      documentOf({ password: 'wrong', restrictions: { min_quantity_to_list: 2 } }),
    )
    fileOf('dry.json', documentOf())
    const untouched = contents(dir)
    const tried: [args: string[], says: RegExp][] = [
      [
        ['config', 'put', join(scratch, 'dry.json'), '--validate', '--if-version', '2'],
        /"impact":\{"deleted":0,"live":2,.*"checking":\["RSR Group"\],"dry_run":true\}/,
      ],
      [['config', 'rollback', '1', '--validate'], /"checking":\["RSR Group"\],"dry_run":true\}/],
      [['config', 'validate'], /"valid":false,"distributor".*|"credentials":\[.*"valid":false/],
      [['config', 'get', '--out', join(dir, 'copy.json')], /"dry_run":true\}/],
      [['secrets', 'rotate'], /\{"data_keys":2,"dry_run":true\}/],
    ]
    for (const [args, says] of tried) {
      const [programs, people] = [
        await run(dir, ...args, '--dry-run', '--json'),
        await run(dir, ...args, '--dry-run'),
      ]
      assert.match(programs.out, says)
      assert.equal(lastLine(programs)['dry_run'], true)
      assert.match(people.out, /would|dry run/)
      assert.deepEqual(contents(dir), untouched, args.join(' '))
    }
  })
})

const CANARIES = [
  'canary-of-the-api-password',
  'canary-of-the-consumer-secret',
  'canary-of-the-consumer-key',
  'canary-of-a-target-password',
  'canary-of-the-second-password',
]

/** Canaries in a text or a file, also in the encodings that a careless hand would write. */
function canariesIn(bytes: Buffer | string): string[] {
  const all = Buffer.from(bytes)
  return CANARIES.filter((canary) =>
    [
      canary,
      Buffer.from(canary).toString('hex'),
      Buffer.from(canary).toString('base64').slice(0, -4),
      encodeURIComponent(canary),
    ].some((form) => all.includes(form)),
  )
}

function secretDocument(password = CANARIES[0]!): Document {
  return {
    ...documentOf({ password }),
    targets: {
      woo: { active: true, 'consumer-secret': CANARIES[1]!, 'consumer-key': CANARIES[2]! },
      gunbroker: { active: true, username: 'me', password: CANARIES[3]! },
    },
  }
}

describe('credentials', () => {
  test('stand in no output and in no file, whatever is asked and however much is logged', async () => {
    const dir = await makeShop('canary')
    const files = [
      secretDocument(),
      secretDocument(CANARIES[4]),
      { ...secretDocument(), pricing: { rounding: CANARIES[0] } },
      // The value itself is at fault.
      {
        ...documentOf({ password: { text: CANARIES[0] } }),
        targets: {
          woo: { active: true, 'consumer-key': [CANARIES[2]], 'consumer-secret': CANARIES[1] },
        },
      },
      `{"distributors": {"RSR Group": {"fulfillment": {"API_PASSWORD": ${CANARIES[0]}}}}}`,
      `{"password": "${CANARIES[3]}`,
    ].map((content, i) => fileOf(`canary-${i}.json`, content))
    const [first, second, ...faulty] = files as [string, string, ...string[]]
    const noneIn = ({ out, err }: Run, args: string[]) => {
      assert.deepEqual(canariesIn(out + err), [], args.join(' '))
      return out
    }
    /** The launcher itself, whose log nobody here could see otherwise. */
    const clean = async (...args: string[]) =>
      noneIn(
        await runWith(
          dir,
          { env: { QUARTERMASTER_LOG: args.includes('--json') ? 'trace' : 'debug' } },
          ...args,
        ),
        args,
      )
    for (const args of [
      ['config', 'put', first, '--dry-run'],
      ['config', 'put', first],
      ['config', 'put', second, '--json'],
      ['secrets', 'rotate'],
    ])
      await clean(...args)
    const reads = [
      ...faulty.map((file) => ['config', 'put', file]),
      ['config', 'get'],
      ['config', 'get', '--version', '1'],
      ['config', 'diff', '2', '1'],
      ['config', 'validate', '--dry-run'],
      ['config', 'history'],
      ['config', 'rollback', '1', '--dry-run'],
      ['catalog', 'explain', RIFLE],
      ['config', 'put', second, '--if-version', '1'],
    ]
    // What only prints is asked in this process: a command of its own takes ten times as long.
    for (const args of reads)
      for (const more of [[], ['--json']])
        noneIn(await run(dir, ...args, ...more), [...args, ...more])
    for (const args of [
      ['config', 'put', faulty[1]!],
      ['config', 'put', faulty[2]!, '--json'],
      ['config', 'validate', '--dry-run'],
    ])
      await clean(...args)
    for (const file of faulty)
      for (const more of [[], ['--json']])
        noneIn(await run(dir, 'config', 'validate', file, ...more), [
          'config',
          'validate',
          file,
          ...more,
        ])
    assert.equal(
      await clean('config', 'diff', '1', '2'),
      '~ /distributors/RSR Group/fulfillment/API_PASSWORD: ******** -> ********\n',
    )
    for (const args of [
      ['config', 'rollback', '1', '--json'],
      ['config', 'validate'],
      ['config', 'get', '--out', join(dir, 'out.json')],
    ])
      await clean(...args)
    for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
      statSync(join(dir, name)).isFile(),
    )) {
      assert.deepEqual(canariesIn(readFileSync(join(dir, file))), [], file)
    }
  })

  test('stand neither in the log nor in the files nor in the answers of a server that is told everything', async () => {
    const dir = await makeShop('canary-server')
    const { key } = (await json(
      dir,
      'keys',
      'create',
      '--subscriber',
      'Main Street',
      '--name',
      'web',
      '--ip',
      '127.0.0.1',
    )) as unknown as { key: string }
    const server = spawn(
      process.execPath,
      [LAUNCHER, 'serve', '--dir', dir, '--port', '0', '--json'],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, QUARTERMASTER_LOG: 'trace' } },
    )
    hearStream(server.stderr)
    const said: string[] = []
    server.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()))
    const first = await new Promise<string>((resolve) => {
      createInterface({ input: server.stdout }).once('line', resolve)
    })
    try {
      const { url } = JSON.parse(first) as { url: string }
      const call = async (path: string, method: string, body?: unknown) => {
        const response = await fetch(`${url}/v1/${path}`, {
          method,
          headers: { 'x-api-key': key },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
        said.push(await response.text())
        return response.status
      }
      assert.equal(await call('config', 'PUT', secretDocument()), 200)
      assert.equal(await call('config', 'PUT', { configuration: secretDocument(CANARIES[4]) }), 200)
      assert.equal(
        await call('config', 'PUT', documentOf({ password: { text: CANARIES[0] } })),
        400,
      )
      assert.equal(await call('config', 'GET'), 200)
      assert.equal(await call('config/validate', 'POST'), 200)
      said.push(
        (await run(dir, 'config', 'diff')).out,
        (await run(dir, 'config', 'get', '--json')).out,
      )
      assert.equal(
        (
          (await json(dir, 'config', 'history')) as unknown as { versions: { saved_by: string }[] }
        ).versions.some(({ saved_by: by }) => by === 'cli'),
        false,
        'history names the key',
      )
      const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(join(dir, name)).isFile(),
      )
      assert.ok(
        files.some((name) => name.endsWith('-wal')),
        'the server has its files open',
      )
      for (const file of files)
        assert.deepEqual(canariesIn(readFileSync(join(dir, file))), [], file)
    } finally {
      assert.equal(await stop(server), 0)
    }
    assert.deepEqual(canariesIn(said.join('\n')), [])
  })
})

describe('the secret key of a folder', () => {
  const keyFile = (dir: string) => join(dir, 'keys', 'secret-key')
  const nextFile = (dir: string) => join(dir, 'keys', 'secret-key.next')
  /** A server that has run for a while has made the keys of fraud reports beside it. */
  const secretKeysIn = (dir: string) =>
    readdirSync(join(dir, 'keys')).filter((name) => name.startsWith('secret-key'))
  const newKey = () => randomBytes(32).toString('hex')

  /** The stored password of RSR, opened. */
  async function storedPassword(dir: string, secretKey?: string): Promise<unknown> {
    await using app = await open({
      dir,
      worker: false,
      ...(secretKey !== undefined && { secretKey }),
    })
    const subscriber = await findSubscriber(app.ctx, 'Main Street')
    const { distributors } = openSaved(
      app.ctx,
      subscriber,
      await app.ctx.configurations.of(subscriber),
    )
    return distributors['RSR Group']!.fulfillment!['API_PASSWORD']
  }

  async function serveOnce(dir: string): Promise<void> {
    const { child, first } = await start(dir, 'serve')
    assert.equal((await get(`${first.url}/v1/ping`, 'none')).status, 403)
    assert.equal(await stop(child), 0)
  }

  /** A start that fails: one line, and no key is made or changed. */
  async function assertRefused(
    dir: string,
    env: Record<string, string>,
    says: RegExp,
    code = 1,
  ): Promise<void> {
    const before = contents(join(dir, 'keys'))
    for (const args of [
      ['serve', '--port', '0'],
      ['secrets', 'rotate'],
    ]) {
      const { status, out, err } = await runWith(dir, { env }, ...args)
      assert.deepEqual([status, out], [code, ''], args.join(' '))
      assert.match(err, says)
      assert.equal(err.trim().split('\n').length, 1, 'in one line')
      assert.deepEqual(contents(join(dir, 'keys')), before)
    }
  }

  test('is replaced by another: documents open as before, and the old key is refused', async () => {
    const dir = await makeShop('rotated', secretDocument())
    const old = readFileSync(keyFile(dir), 'utf8')
    const done = await run(dir, 'secrets', 'rotate')
    assert.equal(done.status, 0, done.err)
    assert.match(
      done.out,
      pattern(
        /^The secret key is replaced by a new one, [0-9a-f]{16}; it wraps 2 data keys\.\n/,
        /Keep a copy of .*rotated\/keys apart/,
      ),
    )
    const key = readFileSync(keyFile(dir), 'utf8')
    assert.notEqual(key, old)
    assert.ok(!done.out.includes(key.trim()) && !done.out.includes(old.trim()), 'no key is shown')
    assert.deepEqual(secretKeysIn(dir), ['secret-key'])
    assert.equal(statSync(keyFile(dir)).mode & 0o777, 0o600)
    assert.equal(await storedPassword(dir), CANARIES[0])
    assert.equal((await json(dir, 'config', 'rollback', '1'))['version'], 2)
    const again = await json(dir, 'secrets', 'rotate')
    assert.deepEqual(Object.keys(again), ['key_id', 'data_keys'])
    assert.equal(await storedPassword(dir), CANARIES[0])
    for (const former of [old, key]) {
      const current = readFileSync(keyFile(dir))
      writeFileSync(keyFile(dir), former)
      await assertRefused(
        dir,
        {},
        pattern(
          /^the secret key is not the one that this installation was made with \(it has the id /,
          /[0-9a-f]{16}, the database names [0-9a-f]{16}\): restore keys\/secret-key/,
        ),
      )
      writeFileSync(keyFile(dir), current)
    }
    assert.equal(await storedPassword(dir), CANARIES[0])
  })

  /** What a rotation changes; the rest of a served folder changes by itself. */
  const keysOf = (dir: string) => {
    const { 'keys/secret-key': file, 'quartermaster.db': record } = contents(dir) as {
      'keys/secret-key': string
      'quartermaster.db': Record<string, unknown>
    }
    return [
      file,
      record['secret_key'],
      record['data_key'],
      record['configuration'],
      record['audit'],
    ]
  }

  test('is not replaced under a running server, and a dry run says the same', async () => {
    const dir = await makeShop('served', secretDocument())
    const { child } = await start(dir, 'serve')
    try {
      const before = keysOf(dir)
      const [real, dry] = [
        await run(dir, 'secrets', 'rotate', '--json'),
        await run(dir, 'secrets', 'rotate', '--dry-run', '--json'),
      ]
      assert.deepEqual(
        [real.status, errorOf(real).message],
        [1, `a server runs on ${dir}; stop it before the secret key is rotated`],
      )
      assert.deepEqual(dry, real)
      assert.deepEqual(keysOf(dir), before)
    } finally {
      assert.equal(await stop(child), 0)
    }
    assert.deepEqual(await json(dir, 'secrets', 'rotate', '--dry-run'), {
      data_keys: 2,
      dry_run: true,
    })
  })

  test('stays the old one when its replacement was cut off before the database knew of it', async () => {
    const dir = await makeShop('undone', secretDocument())
    const old = readFileSync(keyFile(dir), 'utf8')
    writeFileSync(nextFile(dir), `${newKey()}\n`)
    await serveOnce(dir)
    assert.deepEqual([secretKeysIn(dir), readFileSync(keyFile(dir), 'utf8')], [['secret-key'], old])
    assert.equal(await storedPassword(dir), CANARIES[0])
  })

  test('is the new one when its replacement was cut off before the file had its name', async () => {
    const dir = await makeShop('finished', secretDocument())
    const old = readFileSync(keyFile(dir), 'utf8')
    await json(dir, 'secrets', 'rotate')
    const key = readFileSync(keyFile(dir), 'utf8')
    writeFileSync(nextFile(dir), key)
    writeFileSync(keyFile(dir), old)
    await serveOnce(dir)
    assert.deepEqual([secretKeysIn(dir), readFileSync(keyFile(dir), 'utf8')], [['secret-key'], key])
    assert.equal(await storedPassword(dir), CANARIES[0])
  })

  test('of the environment is the only one, and a wrong one stops every start and makes no new key', async () => {
    const dir = await makeShop('environment', secretDocument())
    await assertRefused(
      dir,
      { QUARTERMASTER_SECRET_KEY: newKey() },
      pattern(
        /^the secret key is not the one that this installation was made with .*set /,
        /QUARTERMASTER_SECRET_KEY to the right one\n$/,
      ),
    )
    await assertRefused(
      dir,
      { QUARTERMASTER_SECRET_KEY: 'abc' },
      /^QUARTERMASTER_SECRET_KEY must be 64 hex digits\n$/,
      2,
    )
    await assertRefused(
      dir,
      { QUARTERMASTER_SECRET_KEY: '' },
      /^QUARTERMASTER_SECRET_KEY must be 64 hex digits\n$/,
      2,
    )
    const key = readFileSync(keyFile(dir), 'utf8').trim()
    rmSync(keyFile(dir))
    await assertRefused(
      dir,
      {},
      /secret-key is missing, and the database holds secrets sealed with it: restore the file from your own copy\n$/,
    )
    assert.equal(
      (await runWith(dir, { env: { QUARTERMASTER_SECRET_KEY: key } }, 'config', 'get')).status,
      0,
    )
    assert.equal(await storedPassword(dir, key), CANARIES[0])
  })

  test('of the environment is replaced by its owner: rotation is refused and says how, which works', async () => {
    const dir = join(scratch, 'owned')
    const key = newKey()
    const env = { QUARTERMASTER_SECRET_KEY: key }
    const command = async (...args: string[]) => {
      const done = await runWith(dir, { env }, ...args, '--json')
      assert.equal(done.status, 0, done.err)
    }
    await command('init')
    await command('subscribers', 'create', '--name', 'Main Street', '--email', 'owner@shop.example')
    await command('config', 'put', fileOf('owned.json', secretDocument()))
    assert.ok(!existsSync(keyFile(dir)))
    const before = contents(dir)
    const [real, dry] = [
      await runWith(dir, { env }, 'secrets', 'rotate'),
      await runWith(dir, { env }, 'secrets', 'rotate', '--dry-run'),
    ]
    assert.equal(real.status, 1)
    assert.match(
      real.err,
      pattern(
        /^the secret key comes from QUARTERMASTER_SECRET_KEY, which only you can change: /,
        /.*write the key to .*unset the variable, rotate, /,
        /and set the variable to what the file then holds\n$/,
      ),
    )
    assert.deepEqual(dry, real)
    assert.deepEqual(contents(dir), before)
    assert.ok(!real.err.includes(key))
    // What the message says.
    mkdirSync(join(dir, 'keys'), { recursive: true })
    writeFileSync(keyFile(dir), `${key}\n`)
    await json(dir, 'secrets', 'rotate')
    const next = readFileSync(keyFile(dir), 'utf8').trim()
    rmSync(keyFile(dir))
    assert.equal(await storedPassword(dir, next), CANARIES[0])
    await assertRefused(dir, env, /is not the one that this installation was made with/)
  })
})
