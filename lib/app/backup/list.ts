/** The backups that the audit knows of, and proving that one can be put back. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { invalid } from '../../core/errors.js'
import type { OperatorCtx } from '../ctx.js'
import type { KeyPlaces } from '../look/closed-folder.js'
import { MANIFEST } from './backup.js'
import { checkBackup } from './check.js'
import type { BackupCheck } from './check.js'
import { drill } from './drill.js'
import type { Drill } from './drill.js'
import type { OpenFolder } from './put-back.js'

export interface ListedBackup {
  /** Where it was written. */
  to: string
  made_at: string
  made_by: string
  /** There is a manifest; whether every file is what it says, `verify` tells. */
  present: boolean
}

const MOST = 100

/** The newest first. One that somebody moved is told with where it was. */
export async function listBackups({ read }: OperatorCtx): Promise<ListedBackup[]> {
  const rows = await read
    .selectFrom('audit')
    .select(['actor', 'detail'])
    .where('action', '=', 'backup')
    .orderBy('seq', 'desc')
    .limit(MOST)
    .execute()
  const all = rows.map(({ actor, detail }) => {
    const { to, made_at } = JSON.parse(detail) as { to: string; made_at: string }
    return { to, made_at, made_by: actor, present: existsSync(join(to, MANIFEST)) }
  })
  return all.filter(({ to }, i) => all.findIndex((other) => other.to === to) === i)
}

/** Checks a backup that was made of this installation: see `checkBackup`. */
export async function checkListed(
  ctx: OperatorCtx,
  to: string,
  places: KeyPlaces,
): Promise<BackupCheck> {
  await refuseUnknown(ctx, to)
  return checkBackup(to, places)
}

/** Rehearses a restore of a backup that was made of this installation: see `drill`. */
export async function drillListed(
  ctx: OperatorCtx,
  open: OpenFolder,
  to: string,
  places: KeyPlaces,
): Promise<Drill> {
  await refuseUnknown(ctx, to)
  const { now, monotonic, distributors } = ctx
  return drill(open, { from: to, now, monotonic, distributors: distributors.all, ...places })
}

/** No other folder of the machine is looked into. */
async function refuseUnknown(ctx: OperatorCtx, to: string): Promise<void> {
  const known = await listBackups(ctx)
  if (!known.some((one) => one.to === to))
    throw invalid('to', `${to} is not a backup that was made here`)
}
