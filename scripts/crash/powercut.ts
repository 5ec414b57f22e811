/**
 * Takes the power from the disk under a server that takes orders, again and again:
 *   npx tsx scripts/crash/powercut.ts [--cuts 60] [--seed N]
 * The server is stopped, its ext4 (on a loop device) shut down without writing anything out, the
 * server killed, and the disk mounted again. With `synchronous=FULL` nothing that was answered is
 * lost and nothing is placed twice. Two controls must fail: NORMAL, of which the order journal
 * tells, and NORMAL without the journal's syncs, which loses orders. Needs root, a loop device and
 * mkfs.ext4; says so and does nothing where they are missing. The simulated distributors keep their
 * file on another disk: their power is not cut.
 */
import { randomInt } from 'node:crypto'
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Planted } from '../plants/seam.js'
import { openArena } from './rig/arena.js'
import type { Arena } from './rig/arena.js'
import { KINDS, check } from './rig/check.js'
import type { Kind } from './rig/check.js'
import { startClock, timeOf } from './rig/clock.js'
import { liveAndStop } from './rig/deaths.js'
import { openDisk, whyNoDisk } from './rig/disk.js'
import type { Disk } from './rig/disk.js'
import { httpDoor } from './rig/doors.js'
import { drain } from './rig/drain.js'
import { strayErrors } from './rig/errors.js'
import { CHAOS } from './rig/epoch.js'
import { readFacts } from './rig/facts.js'
import { NORMAL, UNSYNCED } from './rig/plants.js'
import { atMost, sleep } from './rig/process.js'
import { streamOf } from './rig/random.js'
import { BEGINNING, openWorkshop } from './rig/workshop.js'

const { values } = parseArgs({
  options: {
    cuts: { type: 'string', default: '60' },
    epoch: { type: 'string', default: '30' },
    seed: { type: 'string' },
    controls: { type: 'string', default: '20' },
  },
})
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)

interface Result {
  cuts: number
  answered: number
  /** Faults by kind. */
  faults: Record<Kind, number>
  paused: number
  texts: string[]
}

/** One life that ends with the power. */
async function liveAndLosePower(arena: Arena, disk: Disk, after: number): Promise<void> {
  const server = arena.nextProcess('server')
  const ready = await server.begin({ dir: arena.dir, clock: arena.clock() })
  if (!ready) throw new Error(`the server does not start; see ${arena.log}`)
  arena.entrances.server.open(httpDoor(ready.url!))
  await sleep(after)
  server.kill('SIGSTOP')
  disk.cut()
  server.kill('SIGKILL')
  await server.ended
  arena.entrances.server.open(null)
  disk.restart()
}

/** So many cuts of one folder, and what came of it. */
async function onDisk(
  workshop: Awaited<ReturnType<typeof openWorkshop>>,
  mine: number,
  cuts: number,
  result: Result,
): Promise<void> {
  const away = join(workshop.root, `distributors-${mine}`)
  const disk = openDisk(workshop.root)
  const dir = join(disk.path, 'shop')
  cpSync(join(workshop.root, 'template'), dir, { recursive: true })
  mkdirSync(away)
  writeFileSync(join(away, 'simulator.db'), '')
  symlinkSync(join(away, 'simulator.db'), join(dir, 'simulator.db'))
  disk.sync()
  const arena = openArena({
    ...workshop,
    ...CHAOS,
    dir,
    log: join(workshop.root, `disk-${mine}.log`),
    seed: mine,
    clock: startClock(BEGINNING, CHAOS.speed),
  })
  const random = streamOf(mine, 'cuts')
  try {
    arena.startCallers()
    for (let cut = 0; cut < cuts; cut++, result.cuts++)
      await liveAndLosePower(arena, disk, random.int(50, 900))
    await liveAndStop(arena, () => atMost(60_000, arena.stopCallers()))
    await drain(arena)
    const facts = await readFacts(dir, timeOf(arena.clock()))
    const { faults } = check(facts, arena.ledger.answers)
    for (const { kind, text } of [
      ...faults,
      ...arena.ledger.faults.map((text) => ({ kind: 'answer' as const, text })),
      ...strayErrors(arena.log),
    ]) {
      result.faults[kind]++
      result.texts.push(`${kind}: ${text}`)
    }
    if (facts.paused !== null) result.paused++
    result.answered += arena.ledger.answers.length
  } finally {
    await arena.close()
    disk.close()
    rmSync(away, { recursive: true, force: true })
  }
}

async function run(name: string, cuts: number, bug?: Planted): Promise<Result> {
  const workshop = await openWorkshop({ entries: ['server'], bug })
  const result: Result = {
    cuts: 0,
    answered: 0,
    faults: Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Result['faults'],
    paused: 0,
    texts: [],
  }
  try {
    for (let folder = 0; result.cuts < cuts; folder++)
      await onDisk(
        workshop,
        seed + folder,
        Math.min(cuts - result.cuts, Number(values.epoch)),
        result,
      )
  } finally {
    workshop.close()
    rmSync(workshop.root, { recursive: true, force: true })
  }
  const kinds = [...new Set(result.texts.map((text) => text.split(':')[0]!))]
  console.log(
    `${name.padEnd(36)} ${String(result.cuts).padStart(4)} cuts, ` +
      `${String(result.answered).padStart(5)} answers: ` +
      `${KINDS.map((kind) => `${kind} ${result.faults[kind]}`).join(', ')}; paused itself ` +
      `${result.paused} times`,
  )
  for (const kind of kinds)
    for (const text of result.texts.filter((one) => one.startsWith(`${kind}:`)).slice(0, 3))
      console.log(`    ${text.slice(0, 300)}`)
  return result
}

const missing = whyNoDisk()
if (missing !== null) {
  console.log(`skipped: ${missing}`)
  process.exit(0)
}
console.log(`seed ${seed}`)
const full = await run('synchronous=FULL', Number(values.cuts))
const isWhole = full.texts.length === 0
let hasPower = true
if (Number(values.controls) > 0) {
  const noticed = await run('control: NORMAL', Number(values.controls), NORMAL)
  const lost = await run('control: NORMAL, journal not synced', Number(values.controls), UNSYNCED)
  hasPower =
    noticed.texts.length > 0 && lost.faults.lost + lost.faults.double + lost.faults.answer > 0
  if (!hasPower) console.log('a control lost nothing: these cuts prove nothing')
}
process.exit(isWhole && hasPower ? 0 : 1)
