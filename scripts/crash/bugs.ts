/**
 * Has the harness teeth? Plants each bug in turn and runs the crash simulation until it fails.
 *
 *   npx tsx scripts/crash/bugs.ts [--crashes 20000] [--seed 1] [--workers 2] [--only <text>]
 *
 * Prints what caught it, and after how many crashes: once with everything that is checked, once by
 * outcomes alone (no look at what was on the disk when a send began). What no crash shows, the
 * sweep of single faults must; then its cases are counted. Ends with 1 where a bug is not caught,
 * or a seam of it is no longer there.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as esbuild from 'esbuild'
import { planting } from '../plants/seam.js'
import type { Planted } from '../plants/seam.js'
import { PLANTS } from './planted.js'

const { values } = parseArgs({
  options: {
    crashes: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    only: { type: 'string' },
  },
})

interface Caught {
  by: string
  crashes: number
  seed: number
}

mkdirSync('dist', { recursive: true })
const outdir = mkdtempSync(join('dist', 'bugs-'))
async function main(): Promise<number> {
  const bugs: Planted[] = [{ name: 'none: the source as it is', seams: [] }, ...PLANTS].filter(
    ({ name }) => values.only === undefined || name.includes(values.only),
  )
  const lines: string[] = []
  const next = bugs.entries()
  let missed = 0
  await Promise.all(
    Array.from({ length: Number(values.workers) }, async () => {
      for (const [n, bug] of next) {
        const { line, isRight } = await tryOne(bug, n)
        if (!isRight) missed++
        console.log(line)
        lines.push(line)
      }
    }),
  )
  console.log(`\n${bugs.length - missed} of ${bugs.length} as expected`)
  return missed === 0 ? 0 : 1
}

async function tryOne(bug: Planted, n: number): Promise<{ line: string; isRight: boolean }> {
  const file = join(outdir, `${n}.mjs`)
  try {
    await bundle(bug, file)
  } catch (error) {
    return {
      line: `| ${bug.name} | NOT PLANTED: ${(error as Error).message.split('\n').slice(0, 3).join(' ')} | | |`,
      isRight: false,
    }
  }
  const full = (await run(file, 'all')) ?? (await run(file, 'sweep'))
  if (full?.by.includes('NOT PLANTED'))
    return { line: `| ${bug.name} | ${full.by} | | |`, isRight: false }
  const outcomes =
    bug.seams.length === 0 || full === null || full.by.startsWith('the sweep')
      ? null
      : await run(file, 'outcomes')
  const isRight = (full === null) === (bug.seams.length === 0)
  return {
    line:
      `| ${bug.name} | ${full?.by ?? 'NOT CAUGHT'} | ` +
      `${full ? `${full.crashes} | ${full.seed}` : `${values.crashes} | ${values.seed}`} | ` +
      `${outcomes ? `${outcomes.by} | ${outcomes.crashes}` : '- | -'} |`,
    isRight,
  }
}

/** The simulation in one file, with the bug in it. */
async function bundle(bug: Planted, outfile: string): Promise<void> {
  const { plugin, missing } = planting(bug, join('scripts', 'crash', 'planted.ts'))
  await esbuild.build({
    stdin: { contents: ENTRY, resolveDir: process.cwd(), loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    packages: 'external',
    logLevel: 'silent',
    plugins: [plugin],
  })
  if (missing().length > 0) throw new Error(`no bundle has ${missing().join(', ')}`)
}

const ENTRY = `
import { runUntil } from './test/harness/run.js'
import { EVERY_FAULT, REFUSALS, sweep } from './test/harness/sweep.js'
const how = process.argv[2]
const [seed, crashes] = process.argv.slice(3).map(Number)
let caught = null
if (how === 'sweep') {
  let cases = 0
  for (const distid of ['LOO', 'CAR', 'FIL', 'RES', 'STA', 'ONE']) {
    const swept = await sweep({ seed: 5, distid, faults: [...EVERY_FAULT, ...REFUSALS] })
    for (const met of swept.cases.values()) cases += met
    if (swept.wrong.length > 0)
      caught = { by: 'the sweep: ' + swept.wrong[0].slice(0, 100), crashes: cases, seed: 5 }
    if (caught) break
  }
} else {
  const { totals, failure } = await runUntil({ seed, crashes, outcomesOnly: how === 'outcomes' })
  const rules = failure?.violations.map(({ rule }) => rule)
  if (failure)
    caught = { by: [...new Set(rules)].join(', '), crashes: totals.crashes, seed: failure.seed }
}
process.stdout.write(JSON.stringify(caught), () => process.exit(0))
`

/** What caught it; null where nothing did. A run that breaks down has found something too. */
function run(file: string, how: 'all' | 'outcomes' | 'sweep'): Promise<Caught | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [file, how, values.seed, values.crashes], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const limit = setTimeout(() => child.kill('SIGKILL'), 15 * 60_000)
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += String(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err += String(chunk)
    })
    child.on('close', (code) => {
      clearTimeout(limit)
      resolve(
        code === 0
          ? (JSON.parse(out) as Caught | null)
          : {
              by: `broke down: ${/Error: (.*)/.exec(err)?.[1] ?? 'it came to no end'}`,
              crashes: 0,
              seed: Number(values.seed),
            },
      )
    })
  })
}

process.exitCode = await main().finally(() => rmSync(outdir, { recursive: true, force: true }))
