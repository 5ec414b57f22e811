import assert from 'node:assert/strict'
import { describe, test, before, after } from 'node:test'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { silentLog } from '../../lib/core/log.js'
import { openForTest as open } from '../../server/testing/open.js'
import { watchFiles } from '../../server/watch-files.js'
import { commands } from '../../server/cli/commands/index.js'
import {
  contents,
  get,
  json,
  lastLine,
  run,
  runProcess,
  runWords,
  start,
  startProcess,
  stop,
} from './launcher.js'
import { makeOutput } from '../../server/cli/output.js'
import { parseCommand } from '../../server/cli/parse.js'

let scratch: string
before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-cli-'))
})
after(() => rmSync(scratch, { recursive: true, force: true }))

/** A Davidson's file of so many rifles. */
function davidsons(rows: number): string {
  const lines = Array.from(
    { length: rows },
    (_, i) =>
      `R${i},A ` +
      `rifle,${(400 + i).toFixed(2)},5,0123456789${String(i).padStart(2, '0')},RIFLE: BOLT ` +
      'ACTION',
  )
  return ['Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type', ...lines, ''].join(
    '\n',
  )
}

describe('the command line', () => {
  test('an address of a distributor that is none keeps the server from starting', async () => {
    const cases = [
      ['RSR', /^QUARTERMASTER_SERVERS: "RSR" is not an address: give each as RSR=ftpes:/],
      [
        'LIP=https://a.example/ LIP=https://b.example/',
        /"LIP=https:\/\/b\.example\/" is one too many/,
      ],
      ['LIP=ftp://a.example', /servers\.LIP\.files: it has no FTP server/],
      ['LIP=http://a.example', /servers\.LIP\.api: give an address such as https:/],
    ] as const
    for (const [value, expected] of cases) {
      const { status, err } = await startProcess(
        ['serve', '--port', '0', '--dir', join(scratch, 'servers')],
        { env: { QUARTERMASTER_SERVERS: value } },
      )
      assert.notEqual(status, 0)
      assert.match(err, expected)
      assert.equal(err.trim().split('\n').length, 1, err)
    }
  })

  test('help names every command, and each command has an example', async () => {
    const { status, out } = await runProcess(scratch, '--help')
    assert.equal(status, 0)
    const names = [...out.matchAll(/^ {2}(\S+(?: \S+){0,2}) {2,}/gm)].map((match) => match[1]!)
    assert.ok(
      names.includes('keys create') && names.includes('feeds import') && names.includes('demo'),
    )
    assert.deepEqual(
      commands.map(({ name }) => name).filter((name) => !names.includes(name)),
      [],
    )
    assert.match(
      (await run(scratch, 'keys', 'create', '--help')).out,
      /Example:\n {2}quartermaster /,
    )
    for (const { name, positionals = [], help = {} } of commands) {
      assert.deepEqual(
        positionals.filter((argument) => !help[argument]),
        [],
        `${name} says what its arguments are`,
      )
      const parsed = parseCommand(commands, [...name.split(' '), '--help'])
      assert.match('help' in parsed ? parsed.help : '', /Example:\n {2}quartermaster /, name)
    }
  })

  const misused: [args: string[], says: RegExp, code?: string][] = [
    [['serv'], /did you mean "serve"/],
    [['keys'], /which of these: keys create, /],
    [['keys', 'create'], /--subscriber is missing/],
    [['feeds', 'import', 'DAV'], /<FILE> is missing/],
    [['serve', '--port', 'x'], /--port must be/],
    [['serve', '--prt', '1'], /--prt/],
    [['serve', '--port', ''], /--port must not be empty/],
    [['serve', '--host', ''], /--host must not be empty/],
    [['init', '--dir', '', '--dry-run'], /--dir must not be empty/],
    [['serve', '--dry-run'], /serve has no --dry-run/],
    [['demo', '--dry-run'], /demo has no --dry-run/],
    [['--port', '1', 'serve'], /"--port" belongs after a command/],
    [['serve', '--trust-proxy', '0.0.0.0/0'], /wider than/, 'invalid_parameter'],
    [['feeds', 'check', 'nope', 'x'], /no preset "nope"/],
    [
      ['feeds', 'check', 'davidsons', 'nowhere.csv'],
      /cannot read nowhere.csv/,
      'invalid_parameter',
    ],
    [['keys', 'allow', 'x', '--ip', '--json'], /--ip is not given a value; /],
    [['keys', 'disable', 'a', 'b'], /one argument too many/],
    [['completion', 'tcsh'], /no script for "tcsh"; name one of bash, zsh, fish/],
  ]
  for (const [args, says, code = 'usage'] of misused) {
    test(`\`${args.join(' ')}\` says what is wrong, to people and to programs`, async () => {
      const words = ['--dir', join(scratch, 'misused'), '--json', ...args]
      const failed = await (args[0] === 'serve' ? startProcess(words) : runWords(...words))
      assert.equal(failed.status, code === 'usage' ? 2 : 1)
      assert.match(failed.err, says)
      assert.equal(failed.err.trim().split('\n').length, 1, 'in one line')
      assert.deepEqual(Object.keys(lastLine(failed)), ['error'])
      const { error } = lastLine(failed) as unknown as { error: { code: string; message: string } }
      assert.equal(
        failed.err.trim(),
        code === 'usage' ? error.message : `${code}: ${error.message}`,
      )
      assert.equal(error.code, code)
      assert.ok(!existsSync(join(scratch, 'misused')))
    })
  }

  test('options that every command has may stand before it', async () => {
    const dir = join(scratch, 'before')
    for (const args of [
      ['--dir', dir, 'init'],
      [`--dir=${dir}`, '--json', 'subscribers', 'list'],
      ['--dry-run', '--dir', dir, '--json', 'init'],
    ]) {
      const { status, err } = await runWords(...args)
      assert.equal(status, 0, err)
    }
    assert.ok(existsSync(join(dir, 'quartermaster.db')))
    assert.match((await runWords('--dir', dir, '--help')).out, /serve .*\n/)
    assert.match(
      (await runWords('--help', 'keys', 'create')).out,
      /Usage: quartermaster keys create /,
    )
  })

  test('-h is the help at every level, and --version the release', async () => {
    for (const words of [[], ['keys'], ['keys', 'create'], ['orders', 'journal', 'verify']])
      assert.deepEqual(await runWords(...words, '-h'), await runWords(...words, '--help'))
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
    assert.deepEqual(await runWords('--version'), { status: 0, out: `${version}\n`, err: '' })
    assert.deepEqual(lastLine(await runWords('--json', '--version')), { version })
    assert.equal((await runProcess(scratch, '--version')).out, `${version}\n`)
    // Of a command it is no option.
    assert.equal((await runWords('keys', 'list', '--version')).status, 2)
  })

  const completed: [words: string[], offers: string[]][] = [
    [['k'], ['keys']],
    [
      ['keys', 'c'],
      ['create', 'cancel'],
    ],
    [['--dir', '/srv/x', 'orders', 'jour'], ['journal']],
    [
      ['orders', 'journal', ''],
      ['verify', 'fetch'],
    ],
    [
      ['feeds', 'import', 'DAV', './feed.csv', '--'],
      ['--preset', '--subscriber', '--as-of', '--force', '--dir', '--json', '--dry-run', '--help'],
    ],
    [['config', 'get', '--out', ''], []],
    [['feeds', 'import', 'DAV', ''], []],
    [['--v'], ['--version']],
  ]
  test('a shell completes commands and options, and leaves files to itself', async () => {
    const { out: script } = await runWords('completion', 'bash')
    for (const [words, offers] of completed) {
      const { stdout, stderr } = spawnSync('bash', ['--norc', '-s', '--', ...words], {
        input: `${script}
COMP_WORDS=(quartermaster "$@"); COMP_CWORD=$#; _quartermaster; printf '%s\\n' "\${COMPREPLY[@]}"`,
        encoding: 'utf8',
      })
      assert.equal(stderr, '')
      assert.deepEqual(
        stdout.split('\n').filter((line) => line !== ''),
        offers,
        words.join(' '),
      )
    }
  })

  test('the script for zsh has every command, option and what it means', async () => {
    const { out: script } = await runWords('completion', 'zsh')
    assert.match(script, /^#compdef quartermaster\n/)
    for (const { name, summary, options = {} } of commands) {
      assert.ok(script.includes(`    '${name}')\n`), name)
      for (const option of Object.keys(options)) assert.ok(script.includes(`'--${option}`), option)
      const quoted = summary.replaceAll(':', '\\:').replaceAll("'", "'\\''")
      if (!commands.some((other) => other.name.startsWith(`${name} `)))
        assert.ok(script.includes(`:${quoted}'`), summary)
    }
    if (spawnSync('zsh', ['--version']).status === 0)
      assert.equal(spawnSync('zsh', ['-n'], { input: script, encoding: 'utf8' }).stderr, '')
  })

  test('what commands write is for its owner alone, also in a folder that everybody can read', async () => {
    const dir = join(scratch, 'shared')
    mkdirSync(dir)
    chmodSync(dir, 0o755)
    assert.equal((await runProcess(dir, 'init')).status, 0)
    const modes = (readdirSync(dir, { recursive: true }) as string[]).map((name) => [
      name,
      statSync(join(dir, name)).mode & 0o077,
    ])
    assert.ok(modes.length > 3)
    assert.deepEqual(
      modes.filter(([, mode]) => mode !== 0),
      [],
    )
  })

  test('the help of a group lists its commands', async () => {
    const { status, out } = await runWords('keys', '--help')
    assert.equal(status, 0)
    assert.deepEqual(
      [...out.matchAll(/^ {2}(\S+ \S+) {2,}/gm)].map((match) => match[1]),
      [
        'keys create',
        'keys list',
        'keys allow',
        'keys deny',
        'keys disable',
        'keys enable',
        'keys cancel',
        'keys rotate',
      ],
    )
  })

  test('from an empty folder to a key that a running server takes within a second', async () => {
    const dir = join(scratch, 'shop')
    await json(dir, 'init')
    assert.equal(statSync(join(dir, 'keys', 'secret-key')).mode & 0o777, 0o600)
    await json(
      dir,
      'subscribers',
      'create',
      '--name',
      'Main Street',
      '--email',
      'owner@shop.example',
    )
    const { child, first } = await start(dir, 'serve')
    try {
      const { key, id } = (await json(
        dir,
        'keys',
        'create',
        '--subscriber',
        'main street',
        '--name',
        'web',
        '--tier',
        'standard',
      )) as unknown as { key: string; id: string }
      assert.match(key, /^[A-Z0-9]{40}$/)
      const code = async (of = key) => (await get(`${first.url}/v1/ping`, of)).body.error?.code
      // What a command wrote holds within a second.
      const soon = async (expected: string) => {
        for (let left = 20; left > 0 && (await code()) !== expected; left--) await pause(50)
        assert.equal(await code(), expected)
      }
      await soon('ip_whitelist_required')
      await json(dir, 'keys', 'allow', id, '--ip', '127.0.0.1', '--ip', '2001:db8::/48')
      assert.deepEqual((await get(`${first.url}/v1/ping`, key)).body.data, {
        pong: true,
        key_name: 'web',
        tier: 'standard',
      })
      await json(dir, 'keys', 'disable', id)
      await soon('key_disabled')
      await json(dir, 'keys', 'enable', id)
      const rotated = (await json(dir, 'keys', 'rotate', id)) as unknown as { key: string }
      await soon('invalid_api_key')
      assert.equal(await code(rotated.key), undefined)
      const { out } = await run(dir, 'keys', 'list')
      assert.match(out, /127\.0\.0\.1 2001:db8::\/48/)
      assert.ok(!out.includes(rotated.key))
      const second = await runProcess(dir, 'serve', '--port', '0')
      assert.equal(second.status, 2)
      assert.match(second.err, /another process serves/)
    } finally {
      assert.equal(await stop(child), 0)
    }
  })

  test('a feed that is imported beside a running server is served within a second', async () => {
    const dir = join(scratch, 'feed')
    const file = join(scratch, 'IM.csv')
    writeFileSync(
      file,
      'I,Q,P,UPC\n100,5,12.50,012345678905\n101,0,99.00,012345678912\nbad line\n'.repeat(1) +
        Array.from({ length: 200 }, (_, i) => `${200 + i},1,10.00,\n`).join(''),
    )
    const { child, first } = await start(dir, 'demo')
    try {
      const before = await get(
        `${first.url}/v1/products/012345678905?ignore_restrictions=true`,
        first.key,
      )
      assert.equal(before.status, 404)
      const dry = (await json(
        dir,
        'feeds',
        'import',
        'RSR',
        file,
        '--preset',
        'sports-south',
        '--dry-run',
      )) as unknown as { added: number; dry_run: boolean }
      assert.deepEqual([dry.added, dry.dry_run], [202, true])
      const taken = (await json(
        dir,
        'feeds',
        'import',
        'RSR',
        file,
        '--preset',
        'sports-south',
      )) as unknown as { outcome: string; added: number; rejected: number }
      assert.deepEqual([taken.outcome, taken.added, taken.rejected], ['taken', 202, 1])
      let status = 0
      for (let tries = 0; tries < 200 && status !== 200; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 100))
        status = (await get(`${first.url}/v1/products/012345678905`, first.key)).status
      }
      assert.equal(status, 200)
      assert.match((await run(dir, 'feeds', 'status')).out, /RSR\/sports-south/)
    } finally {
      await stop(child)
    }
  })
})

describe('a folder without an installation', () => {
  const refusing: string[][] = [
    ['subscribers', 'list'],
    ['subscribers', 'create', '--name', 'A', '--email', 'a@b.example'],
    ['keys', 'list'],
    ['keys', 'rotate', 'x', '--dry-run'],
    ['distributors', 'list'],
    ['feeds', 'status'],
    ['feeds', 'set', 'DAV', './x.csv', '--dry-run'],
    ['feeds', 'pull', 'DAV'],
  ]
  test('is refused by every command that does not make one, and left alone', async () => {
    const dir = join(scratch, 'nothing')
    for (const args of refusing) {
      const refused = await run(dir, ...args, '--json')
      assert.deepEqual(
        [refused.status, refused.err],
        [1, `no installation in ${dir}; run \`quartermaster init\`\n`],
      )
      assert.deepEqual(lastLine(refused), {
        error: { code: 'failed', message: refused.err.trim() },
      })
    }
    mkdirSync(dir)
    assert.equal((await run(dir, 'feeds', 'status')).status, 1)
    assert.deepEqual(readdirSync(dir), [])
  })

  test('stays one, whatever command is run in it as its help shows', async () => {
    const making = commands.filter(
      ({ name, effect }) => effect === 'serves' || name === 'init' || name === 'restore',
    )
    assert.deepEqual(
      making.map(({ name }) => name),
      ['serve', 'demo', 'simulators', 'init', 'restore'],
    )
    const needsNone = new Set(['completion', 'distributors template', 'distributors schema'])
    const dir = join(scratch, 'still-nothing')
    mkdirSync(dir)
    for (const { name, example } of commands.filter((command) => !making.includes(command))) {
      const [, ...words] = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(
        (match) => match[1] ?? match[2]!,
      )
      const refused = await run(dir, ...words, '--json')
      if (needsNone.has(name)) assert.equal(refused.status, 0, name)
      // It looks at whatever there is, and tells of it.
      else if (name === 'doctor') assert.equal(refused.status, 3)
      else assert.deepEqual([refused.status, Object.keys(lastLine(refused))], [1, ['error']], name)
      assert.deepEqual(readdirSync(dir), [], name)
    }
  })

  test('gets one from init, which --dry-run only checks', async () => {
    const dir = join(scratch, 'new')
    assert.match((await run(dir, 'init', '--dry-run')).out, /would be made in .*\/new/)
    assert.deepEqual(await json(dir, 'init', '--dry-run'), { dir, dry_run: true })
    assert.ok(!existsSync(dir))
    const made = await json(dir, 'init')
    assert.deepEqual({ ...made, console: null }, { dir, console: null })
    assert.match(made['console'] ?? '', /^http:\/\/127\.0\.0\.1:9464\/#link=[\w-]{43}$/)
    const before = contents(dir)
    assert.match((await run(dir, 'init', '--dry-run')).out, /nothing would change/)
    assert.deepEqual(contents(dir), before)
    const file = join(scratch, 'file')
    writeFileSync(file, '')
    const [dry, real] = [
      await run(join(file, 'x'), 'init', '--dry-run'),
      await run(join(file, 'x'), 'init'),
    ]
    assert.match(real.err, /is a file/)
    assert.deepEqual(dry, real)
  })
})

describe('--dry-run', () => {
  let dir: string
  let key: string
  let cancelled: string
  let before: Record<string, unknown>
  const named = (args: string[]) =>
    args.map((arg) =>
      arg === 'KEY'
        ? key
        : arg === 'CANCELLED'
          ? cancelled
          : arg === 'FILE'
            ? join(scratch, 'dav.csv')
            : arg,
    )

  test('has an installation to try things on', async () => {
    dir = join(scratch, 'dry')
    await json(dir, 'init')
    await json(dir, 'subscribers', 'create', '--name', 'A', '--email', 'a@b.example')
    key = (
      await json(dir, 'keys', 'create', '--subscriber', 'A', '--name', 'web', '--ip', '127.0.0.1')
    )['id']!
    cancelled = (await json(dir, 'keys', 'create', '--subscriber', 'A', '--name', 'old'))['id']!
    await json(dir, 'keys', 'cancel', cancelled)
    const file = join(scratch, 'dav.csv')
    writeFileSync(file, davidsons(40))
    await json(dir, 'feeds', 'import', 'DAV', file)
    writeFileSync(file, davidsons(10))
    const refused = await run(dir, 'feeds', 'import', 'DAV', file, '--json')
    assert.deepEqual(
      [refused.status, lastLine(refused)['outcome']],
      [1, 'refused'],
      'a refused feed keeps its result',
    )
    await json(
      dir,
      'feeds',
      'set',
      'DAV',
      `http://user:secret@127.0.0.1:9/dav.csv`,
      '--allow-private',
    )
    assert.deepEqual(
      (
        (await json(dir, 'feeds', 'status'))['sources'] as unknown as { allow_private: boolean }[]
      ).map((source) => source.allow_private),
      [true],
    )
    before = contents(dir)
  })

  const allowed: [args: string[], says: RegExp][] = [
    [['subscribers', 'create', '--name', 'B', '--email', 'b@b.example'], /"name":"B"/],
    [
      ['keys', 'create', '--subscriber', 'a', '--name', 'new', '--tier', 'pro', '--ip', '10.0.0.1'],
      /"tier":"pro"/,
    ],
    [['keys', 'allow', 'KEY', '--ip', '10.0.0.1'], /"allowlist":\["127.0.0.1","10.0.0.1"\]/],
    [['keys', 'deny', 'KEY', '--ip', '127.0.0.1'], /"allowlist":\[\]/],
    [['keys', 'disable', 'KEY'], /"disabled"/],
    [['keys', 'enable', 'KEY'], /"enabled"/],
    [['keys', 'cancel', 'KEY'], /"cancelled"/],
    [['keys', 'rotate', 'KEY'], /"id"/],
    [['feeds', 'set', 'DAV', 'https://feeds.example/x.csv', '--off'], /"source":"DAV\/davidsons"/],
    [['feeds', 'pull', 'DAV'], /"sources":\[\{"source":"DAV\/davidsons","location":"http:\/\/127/],
    [['feeds', 'import', 'DAV', 'FILE', '--force'], /"removed":30/],
    [['feeds', 'accept', 'DAV'], /"outcome":"taken"/],
  ]
  test('tells what each writing command would do, and does not do it', async () => {
    for (const [args, says] of allowed) {
      const { status, out, err } = await run(dir, ...named(args), '--dry-run', '--json')
      assert.equal(status, 0, err)
      assert.match(out, says)
      assert.equal((JSON.parse(out) as { dry_run: boolean }).dry_run, true)
      assert.doesNotMatch(out, /[A-Z0-9]{40}|secret/, 'no key is shown')
      assert.deepEqual(contents(dir), before, args.join(' '))
    }
  })

  const refused: string[][] = [
    ['subscribers', 'create', '--name', 'a', '--email', 'x@y.example'],
    ['subscribers', 'create', '--name', 'B', '--email', 'nope'],
    ['keys', 'create', '--subscriber', 'nobody', '--name', 'x'],
    ['keys', 'create', '--subscriber', 'A', '--name', 'x', '--tier', 'gold'],
    ['keys', 'create', '--subscriber', 'A', '--name', 'x', '--ip', '300.1.1.1'],
    ['keys', 'allow', 'nokey', '--ip', '127.0.0.1'],
    ['keys', 'allow', 'KEY'],
    ['keys', 'deny', 'KEY', '--ip', '10.0.0.1'],
    ['keys', 'disable', 'nokey'],
    ['keys', 'enable', 'CANCELLED'],
    ['keys', 'rotate', 'CANCELLED'],
    ['feeds', 'set', 'NOPE', './x'],
    ['feeds', 'set', 'DAV', './x', '--preset', 'nope'],
    ['feeds', 'set', 'DAV', './x', '--subscriber', 'nobody'],
    ['feeds', 'set', 'DAV', './x', '--every', '0'],
    ['feeds', 'set', 'DAV', './x', '--every', ''],
    ['feeds', 'pull', 'LIP'],
    ['feeds', 'accept', 'RSR'],
    ['feeds', 'import', 'DAV', './missing.csv'],
  ]
  test('refuses what the real run refuses, in the same words', async () => {
    for (const args of refused) {
      const [real, dry] = [
        await run(dir, ...named(args), '--json'),
        await run(dir, ...named(args), '--dry-run', '--json'),
      ]
      assert.ok(real.status === 1 || real.status === 2, args.join(' '))
      assert.deepEqual(dry, real)
      assert.deepEqual(Object.keys(lastLine(dry)), ['error'])
    }
    assert.deepEqual(contents(dir), before)
  })
})

describe('the parts of the command line', () => {
  test('a progress bar is drawn on a terminal only, and keeps its line', () => {
    const draw = (isTTY: boolean, asJson: boolean) => {
      const written: string[] = []
      const out = makeOutput(
        asJson,
        { write: (text) => written.push(text) },
        { isTTY, write: (text) => written.push(text) },
      )
      const progress = out.progress('DAV')
      progress(50, 100, 1_000)
      progress(100, 100, 2_000)
      out.line('Done.')
      out.result({ done: true })
      return written.join('')
    }
    assert.match(
      draw(true, false),
      /^\rDAV \[#{15} {15}\] {2}50 % 1,000 rows\rDAV \[#{30}\] 100 % 2,000 rows\nDone\.\n$/,
    )
    assert.equal(draw(false, false), 'Done.\n')
    assert.equal(draw(true, true), '{"done":true}\n')
  })

  test('a catalog that cannot be read does not end the server that looks at it', async () => {
    const errors: string[] = []
    const app = await open({
      dir: join(scratch, 'watched'),
      worker: false,
      log: { ...silentLog, error: (_fields, message) => errors.push(message) },
    })
    await app.close()
    const unwatch = watchFiles(app, {
      every: 1,
      end: (code) => assert.fail(`it ended with ${code}`),
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    unwatch()
    assert.deepEqual(errors, ['the catalog file cannot be read; the last snapshot serves on'])
  })
})
