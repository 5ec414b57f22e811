/**
 * What every run of the crash harness begins with: a folder, a shop that folders are copied from,
 * and bundles that start quickly.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Planted } from '../../plants/seam.js'
import { bundleEntries } from './bundle.js'
import { startClock } from './clock.js'
import { httpDoor, libraryDoor } from './doors.js'
import { makeOrder } from './orders.js'
import { sleep, startProcess } from './process.js'
import { streamOf } from './random.js'
import { SHOP, makeShopFolder } from './shop.js'
import type { CrashShop } from './shop.js'

/** The first time that the shop's clock shows. */
export const BEGINNING = Date.UTC(2026, 10, 21, 12)

export interface Workshop {
  /** Where state folders are made; holds `template`, the shop. */
  root: string
  bundle: string
  shop: CrashShop
  /** Removes the bundles, and the folder too where it is empty but for the shop. */
  close(): void
}

/** `dir` is kept; without one a temporary folder is made. `bug`: one of rig/plants.ts. */
export async function openWorkshop({
  dir,
  entries,
  bug,
}: {
  dir?: string | undefined
  entries: readonly ('server' | 'library')[]
  bug?: Planted | undefined
}): Promise<Workshop> {
  const root = dir === undefined ? mkdtempSync(join(tmpdir(), 'qm-crash-')) : resolve(dir)
  mkdirSync(root, { recursive: true })
  const bundle = await bundleEntries(entries, bug)
  const template = join(root, 'template')
  rmSync(template, { recursive: true, force: true })
  const shop = await makeShopFolder(template, () => BEGINNING)
  for (const entry of entries) await warmUp({ root, bundle, shop }, entry)
  return { root, bundle, shop, close: () => rmSync(bundle, { recursive: true, force: true }) }
}

/**
 * Has a process of each kind take some orders on a copy, and keep the code that V8 made meanwhile.
 */
async function warmUp(
  { root, bundle, shop }: Pick<Workshop, 'root' | 'bundle' | 'shop'>,
  entry: 'server' | 'library',
): Promise<void> {
  const dir = join(root, `warm-up-${process.pid}`)
  cpSync(join(root, 'template'), dir, { recursive: true })
  const started = startProcess(join(bundle, `${entry}.cjs`), `${dir}.log`)
  try {
    const ready = await started.begin({ dir, clock: startClock(BEGINNING, 600) })
    if (!ready) throw new Error(`the ${entry} does not start; see ${dir}.log`)
    const door = ready.url === undefined ? libraryDoor(started) : httpDoor(ready.url)
    const random = streamOf(0, 'warm-up')
    for (let i = 0; i < 40; i++)
      await door.place(
        { shop: SHOP, key: shop.keys[i % shop.keys.length]! },
        makeOrder(random, `warm-${i}`, { percent: 30, scenarios: [] }),
      )
    started.channel.send({ keepCode: true })
    while (!existsSync(join(bundle, `${entry}.bundle.cjs.code`))) await sleep(20)
    door.close()
  } finally {
    started.kill('SIGKILL')
    await started.ended
  }
  for (const path of [dir, `${dir}.log`]) rmSync(path, { recursive: true, force: true })
}
