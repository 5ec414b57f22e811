/**
 * Opens, works and closes so many times beside four busy loops, and allows no rejection, no timer,
 * no handle and no lost answer:
 *
 *   node scripts/closing.mjs [rounds, 500] [seed, 1]
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleTree } from '../build.mjs'

const [rounds = '500', seed = '1'] = process.argv.slice(2)
const BUSY = 4

mkdirSync('dist', { recursive: true })
const outdir = mkdtempSync(join('dist', 'closing-'))
const loops = Array.from({ length: BUSY }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
)
try {
  await bundleTree(outdir, { rounds: 'test/server/closing-rounds.ts' })
  const { closingRounds } = await import(pathToFileURL(resolve(outdir, 'rounds.mjs')).href)
  const began = Date.now()
  const onRound = (n) => {
    if (n % 50 === 49) console.log(`${n + 1} rounds, ${Math.round((Date.now() - began) / 1000)} s`)
  }
  console.log(JSON.stringify(await closingRounds(Number(rounds), { seed: Number(seed), onRound })))
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  for (const loop of loops) loop.kill('SIGKILL')
  rmSync(outdir, { recursive: true, force: true })
}
