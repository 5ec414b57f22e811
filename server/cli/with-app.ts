/** How a command gets at the app of a state folder, and tries what it would do. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import { actAndUndo } from '../../lib/db/undoable.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { open } from '../../lib/app/open.js'
import type { App } from '../../lib/app/open.js'
import { databaseFromEnvironment, egressFromEnvironment, serversFromEnvironment } from '../env.js'
import { placesOf } from '../places.js'
import { folderFault } from './folder.js'
import { machineFault } from './machine-fault.js'
import { present } from '../../lib/core/present.js'

/**
 * Whether there is a system of record: in the folder, where the other files come back by themselves,
 * or in the database that the environment names, which has one from its first start on.
 */
export function isInstallation(dir: string): boolean {
  return databaseFromEnvironment() !== undefined || existsSync(filesIn(resolve(dir)).record)
}

/**
 * Opens the folder for one command, and closes it whatever happens. A folder without an
 * installation is refused, so that a slip in --dir leaves no second installation behind; `create`
 * makes one. With `journalCopy` the bucket of the environment is where the journal's copy is kept,
 * whether a variable says so or not.
 */
export async function withApp<T>(
  dir: string,
  use: (app: App) => Promise<T>,
  { create = false, journalCopy = false } = {},
): Promise<T> {
  if (!create && !isInstallation(dir))
    throw new Error(
      folderFault(dir) ?? `no installation in ${resolve(dir)}; run \`quartermaster init\``,
    )
  const app = await open({
    dir,
    actor: 'cli',
    worker: false,
    fatal: (error) => endCommand(error, dir),
    ...egressFromEnvironment(),
    ...serversFromEnvironment(),
    ...placesOf({ journalCopy }),
  })
  try {
    return await use(app)
  } finally {
    await app.close()
  }
}

/** What a commit came to is not known any more: nothing that follows may build on it. */
function endCommand(error: unknown, dir: string): never {
  const { line, status } = present(machineFault(error, dir), 'a fault of the disk')
  process.stderr.write(`${line}\n`)
  process.exit(status)
}

/**
 * Acts; under --dry-run in a transaction that is undone, so that every check is the real one and
 * nothing stays.
 */
export async function perform<T>(
  { ctx }: App,
  dryRun: boolean,
  act: (ctx: OperatorCtx) => Promise<T>,
): Promise<T> {
  return dryRun ? actAndUndo(ctx, act) : act(ctx)
}
