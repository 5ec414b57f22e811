/**
 * The guide is walked from top to bottom as its reader would, and its programs are run as they
 * stand.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { openSqlite } from '../../lib/db/sqlite/driver.js'
import { assertShown, blocks, page, rows } from './blocks.js'
import { openGuideShop } from './shop.js'
import type { GuideShop } from './shop.js'
import { LAUNCHER } from '../server/launcher.js'

/** Without what a license is renewed with. */
const undated = (text: string) =>
  text
    .trim()
    .replaceAll(/\d-\d\d-\d{3}-\d\d-\d[A-M]-\d{5}/g, 'LICENSE')
    .replaceAll(/\d{4}-\d\d-\d\d/g, 'DAY')

describe('with the guide in hand', () => {
  let shop: GuideShop
  before(async () => {
    shop = await openGuideShop()
  })
  after(() => shop.close())

  describe('the guide', () => {
    test('its lines run one after the other, and answer what it shows', async () => {
      const all = blocks(page('guide.md'))
      // npm start itself is what test/simulator/server.test.ts is about.
      const steps = all.flatMap(({ language, text }, i) =>
        language === 'sh' && !text.startsWith('npm ')
          ? [
              {
                text,
                shown:
                  all[i + 1] && ['json', 'text'].includes(all[i + 1]!.language)
                    ? all[i + 1]!
                    : null,
              },
            ]
          : [],
      )
      assert.ok(steps.length > 18)
      const script = steps
        .map(({ text }) => `${text}printf '\\n=====\\n'\n`)
        .join('')
        .replaceAll('http://127.0.0.1:8080', shop.url)
      const answers = (await shop.shell(script)).split('\n=====\n')
      steps.forEach(({ text, shown }, i) => {
        if (shown?.language === 'json')
          assertShown(
            JSON.parse(shown.text),
            JSON.parse(answers[i]!),
            text.split('\n').at(-2)!.slice(0, 80),
          )
        else if (shown) assert.equal(undated(answers[i]!), undated(shown.text))
      })
      // Every answer that is shown was compared: none stands behind something else.
      assert.equal(
        steps.filter(({ shown }) => shown !== null).length,
        all.filter(({ language }) => ['json', 'text'].includes(language)).length,
      )
    })
  })

  describe('the programs of the catalog', () => {
    let folder: string
    // Beside the suites, where the packages are found that a shop would install.
    before(() => {
      folder = mkdtempSync(join(dirname(LAUNCHER), 'shop-'))
      mkdirSync(join(folder, 'node_modules'))
      // The one that npm would have chosen for this Node.
      const sqlite = ['better-sqlite3-12', 'better-sqlite3']
        .map((name) => resolve('node_modules', name))
        .find((path) => existsSync(path))!
      symlinkSync(sqlite, join(folder, 'node_modules', 'better-sqlite3'))
    })
    after(() => rmSync(folder, { recursive: true, force: true }))

    /** Runs a program in a folder of its own, an export interval later. */
    async function run(
      name: string,
      command: string,
      env: Record<string, string> = {},
    ): Promise<string> {
      await shop.later(20 * 60)
      return again(name, command, env)
    }
    function again(
      name: string,
      command: string,
      env: Record<string, string> = {},
    ): Promise<string> {
      return shop.shell(`cd ${join(folder, name)}\n${command}`, {
        BASE: `${shop.url}/v1`,
        KEY: shop.key,
        ...env,
      })
    }
    const workIn = (name: string) => {
      mkdirSync(join(folder, name))
      cpSync(join('data', 'guide', 'examples'), join(folder, name), { recursive: true })
    }
    const dump = (name: string, text: string) => {
      const db = openSqlite(join(folder, name, 'shop.db'))
      try {
        return db.prepare(text).all()
      } finally {
        db.close()
      }
    }
    const change = (name: string, text: string) => {
      const db = openSqlite(join(folder, name, 'shop.db'))
      db.exec(text)
      db.close()
    }
    const OFFERS =
      'SELECT distid, stockid, upc, name, unit_price, map_price, retail_price, qty_on_hand, ' +
      'description FROM offer ORDER BY distid, stockid'
    const ATTRIBUTES = 'SELECT * FROM attribute ORDER BY upc, distid, name, value'

    test('in JavaScript: loads, rests while nothing changes, waits where it is too early, and mends', async () => {
      workIn('js')
      const { total } = await shop.app.as('Demo Shop').products.search({ page_size: 1 })
      assert.match(
        await run('js', 'node catalog.mjs'),
        new RegExp(`^${total} offers, 0 gone, \\d{4,} attributes, version [\\w-]{24}\\n$`),
      )
      assert.equal(await again('js', 'node catalog.mjs'), 'too early\n')
      assert.equal(await run('js', 'node catalog.mjs'), 'nothing has changed\n')
      const whole = dump('js', OFFERS)
      assert.equal(whole.length, total)
      change(
        'js',
        "UPDATE catalog SET export_version = 'old'; DELETE FROM offer WHERE distid = 'RSR'; " +
          "UPDATE offer SET stockid = 'x-' || stockid WHERE distid = 'LIP'; UPDATE offer SET " +
          'unit_price = 0',
      )
      assert.match(await run('js', 'node catalog.mjs'), /^\d+ offers, [1-9]\d* gone, /)
      assert.deepEqual(dump('js', OFFERS), whole)
    })

    test(
      'in Python: the same rows and attributes as in JavaScript',
      { skip: spawnSync('python3', ['--version']).status === 0 ? false : 'there is no python3' },
      async () => {
        workIn('py')
        // DuckDB's package for Python is not there: its one function reads the same file by other
        // means, all else runs as it stands.
        writeFileSync(
          join(folder, 'py', 'rows.mjs'),
          "import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'\nfor (const " +
            'row of await parquetReadObjects({ file: await asyncBufferFromFile(process.argv[2]) ' +
            '})) console.log(JSON.stringify(row))\n',
        )
        writeFileSync(
          join(folder, 'py', 'run.py'),
          [
            'import catalog, json, subprocess',
            'def rows(path):',
            "    for line in subprocess.run(['node', 'rows.mjs', path], " +
              'stdout=subprocess.PIPE, check=True).stdout.splitlines():',
            '        yield json.loads(line)',
            'catalog.read_parquet = rows',
            'catalog.main()',
            '',
          ].join('\n'),
        )
        const python = 'python3 -B run.py'
        assert.match(
          await run('py', python),
          /^\d+ offers, 0 gone, \d{4,} attributes, version [\w-]{24}\n$/,
        )
        assert.equal(await again('py', python), 'too early\n')
        assert.equal(await run('py', python), 'nothing has changed\n')
        assert.deepEqual(dump('py', OFFERS), dump('js', OFFERS))
        assert.deepEqual(dump('py', ATTRIBUTES), dump('js', ATTRIBUTES))
        change(
          'py',
          "UPDATE catalog SET export_version = 'old'; UPDATE offer SET stockid = 'x-' || stockid WHERE distid = 'LIP'",
        )
        assert.match(await run('py', python), /^\d+ offers, [1-9]\d* gone, /)
        assert.deepEqual(dump('py', OFFERS), dump('js', OFFERS))
      },
    )

    test('in SQL: the shell fetches, DuckDB merges, and the version is kept once that is done', async () => {
      workIn('sql')
      // The duckdb command, by way of its package for Node: runs the statements of standard input,
      // and prints what the last one finds.
      writeFileSync(
        join(folder, 'sql', 'duckdb.mjs'),
        [
          "import { readFileSync } from 'node:fs'",
          "import { DuckDBInstance } from '@duckdb/node-api'",
          'const connection = await (await DuckDBInstance.create(process.argv.at(-1))).connect()',
          "console.log(JSON.stringify((await connection.runAndReadAll(readFileSync(0, 'utf8'))).getRowObjectsJson()))",
          '',
        ].join('\n'),
      )
      const sh = 'duckdb() { node duckdb.mjs "$@"; }\n. ./catalog.sh'
      const sums = async () =>
        JSON.parse(
          await again(
            'sql',
            'echo "SELECT count(*) n, round(sum(unit_price * qty_on_hand), 2) worth, (SELECT ' +
              'count(*) FROM attribute) attributes FROM offer" | node duckdb.mjs shop.duckdb',
          ),
        ) as unknown
      const first = JSON.parse(await run('sql', sh)) as { distid: string }[]
      assert.deepEqual(
        first.map(({ distid }) => distid),
        ['CSSI', 'LIP', 'RSR'],
      )
      const whole = await sums()
      const [{ worth }] = dump(
        'js',
        'SELECT round(sum(unit_price * qty_on_hand), 2) AS worth FROM offer',
      ) as [{ worth: number }]
      assert.deepEqual(whole, [
        {
          n: String(dump('js', OFFERS).length),
          worth,
          attributes: String(dump('js', ATTRIBUTES).length),
        },
      ])
      const columns = JSON.parse(
        await again(
          'sql',
          'echo "SELECT column_name FROM (DESCRIBE FROM read_parquet(\'catalog.parquet\'))" | ' +
            'node duckdb.mjs shop.duckdb',
        ),
      ) as { column_name: string }[]
      const told = rows(page('catalog.md'), '## Columns').flatMap(([cell]) =>
        [...cell!.matchAll(/`(\w+)`/g)].map((match) => match[1]!),
      )
      assert.deepEqual(
        columns.map(({ column_name: name }) => name),
        told,
      )
      const version = readFileSync(join(folder, 'sql', 'export_version'), 'utf8')
      assert.equal(await run('sql', sh), 'nothing has changed\n')
      await again(
        'sql',
        "echo \"DELETE FROM offer WHERE distid = 'RSR'; UPDATE offer SET unit_price = 0; " +
          "UPDATE offer SET stockid = 'x' || stockid WHERE distid = 'LIP'; SELECT 1\" | node " +
          'duckdb.mjs shop.duckdb',
      )
      await assert.rejects(again('sql', sh), /ended with 22: .*429/s)
      writeFileSync(join(folder, 'sql', 'export_version'), 'old\n')
      await run('sql', sh)
      assert.deepEqual(await sums(), whole)
      assert.equal(readFileSync(join(folder, 'sql', 'export_version'), 'utf8'), version)
    })
  })
})
