/**
 * The lines of the page on operating, run one after the other against an installation that begins
 * with the first of them.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { blocks, page, rows } from './blocks.js'
import { json, run } from '../server/launcher.js'

/**
 * A server is what test/server/process.test.ts is about, the doctor and a move have suites of their
 * own, and there is no such host.
 */
const ELSEWHERE = /^(serve |feeds pull |doctor |move )/
/**
 * With which code it ends here, since no feed was refused, there is no bucket, no order's file, and
 * no shop that has RSR.
 */
const REFUSED: Readonly<Record<string, number>> = {
  'feeds accept DAV': 1,
  'orders preflight ./order.json --dry-run-orders': 1,
  'distributors live RSR --reason "account approved"': 1,
  'orders journal fetch --to orders.journal': 2,
}

function inventory(rows: number): string {
  const items = Array.from(
    { length: rows },
    (_, i) =>
      `R${i},A rifle,${400 + i}.00,5,0123456789${String(i).padStart(2, '0')},RIFLE: BOLT ACTION`,
  )
  return ['Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type', ...items, ''].join(
    '\n',
  )
}

test('the lines of the page on operating do what it says, from an empty folder to a restored backup', async () => {
  const scratch = mkdtempSync(join(tmpdir(), 'qm-operating-'))
  const dir = join(scratch, 'folder')
  try {
    const file = join(scratch, 'davidsons_inventory.csv')
    writeFileSync(file, inventory(12))
    const lines = blocks(page('operating.md'))
      .filter(({ language }) => language === 'sh')
      .flatMap(({ text }) =>
        [...text.matchAll(/^quartermaster (.+?)(?: +#.*)?$/gm)].map((match) => match[1]!),
      )
    assert.ok(lines.length > 25)
    let id = ''
    for (const line of lines) {
      if (ELSEWHERE.test(line)) continue
      if (/^(verify|drill|restore) /.test(line))
        cpSync(join(dir, 'keys'), join(scratch, 'safe'), { recursive: true })
      const places = {
        '9f2c41d07ab3': id,
        './davidsons_inventory.csv': file,
        '/backups/2026-11-22': join(scratch, 'backup'),
        '/backups/2026-11-21': join(scratch, 'backup-2'),
        '/srv/quartermaster': join(scratch, 'anew'),
        '/safe/keys': join(scratch, 'safe'),
        '/tmp/drill': join(scratch, 'drill'),
      }
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)]
        .map((match) => match[1] ?? match[2]!)
        .map((word) => (places as Record<string, string>)[word] ?? word)
      const at = words.indexOf('--dir')
      const [where] = at < 0 ? [dir] : words.splice(at, 2).slice(1)
      const done = await run(where!, ...words)
      assert.equal(done.status, REFUSED[line] ?? 0, `${line}: ${done.err}${done.out}`)
      if (line.startsWith('keys create'))
        id = ((await json(dir, 'keys', 'list')) as unknown as { keys: { id: string }[] }).keys[0]!
          .id
    }
    const named = rows(page('operating.md'), '## The folder')
      .map(([file]) => file)
      .join()
    const isNamed = (name: string) =>
      [name, `${name}/`, name.replace(/^\w+/, '*')].some((text) => named.includes(`\`${text}\``))
    const files = readdirSync(dir).map((name) => name.replace(/-(wal|shm|journal)$/, ''))
    assert.deepEqual(
      files.filter((name) => !isNamed(name)),
      [],
      'files that the page does not name',
    )
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
})
