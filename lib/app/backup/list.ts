/** The backups that the audit knows of, and proving that one can be put back. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invalid } from '../../core/errors.js'
import type { OperatorCtx } from '../ctx.js'
import { MANIFEST, verifyBackup } from './backup.js'
import { putBack } from './put-back.js'
import type { OpenFolder, Restored } from './put-back.js'

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

/** Whether every file of a known backup is what its manifest says. */
export async function checkBackup(
  ctx: OperatorCtx,
  to: string,
): Promise<{ to: string; made_at: string; files: number; bytes: number }> {
  await refuseUnknown(ctx, to)
  const { made_at, files } = await verifyBackup(to)
  return {
    to,
    made_at,
    files: files.length,
    bytes: files.reduce((bytes, { size }) => bytes + size, 0),
  }
}

/**
 * Puts a known backup back into a folder beside it, with a copy of this installation's keys, and
 * removes that again: what a restore would do is done, and nothing of it stays.
 */
export async function drillBackup(
  ctx: OperatorCtx,
  open: OpenFolder,
  to: string,
): Promise<Restored> {
  await refuseUnknown(ctx, to)
  const dir = await mkdtemp(join(dirname(to), '.drill-'))
  try {
    return await putBack(open, {
      backup: to,
      dir,
      keys: join(ctx.engine.dir, 'keys'),
      now: ctx.now,
      random: ctx.random,
      distributors: ctx.distributors.all,
      actor: ctx.actor,
    })
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

/** No other folder of the machine is looked into. */
async function refuseUnknown(ctx: OperatorCtx, to: string): Promise<void> {
  const known = await listBackups(ctx)
  if (!known.some((one) => one.to === to))
    throw invalid('to', `${to} is not a backup that was made here`)
}
