/** Moves the system of record between the state folder and a PostgreSQL. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { MoveProgress, MoveReport } from '../../../lib/app/move/move.js'
import { SECOND } from '../../../lib/core/clock.js'
import { figure, megabytes, times } from '../../../lib/core/figures.js'
import type { S3Store } from '../../../lib/objects/s3.js'
import { DRY_RUN, UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { secretKeyFromEnvironment } from '../../env.js'
import { folderFault } from '../folder.js'
import { objectsFromEnvironment } from '../../object-store.js'
import { bucketIn, readDatabaseFile } from '../../places.js'
import type { Output } from '../output.js'
import { isInstallation } from '../with-app.js'

const EXAMPLE =
  'quartermaster move --to-file /etc/quartermaster/database --preview --dir /srv/quartermaster'

async function move({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const [to, from] = [optional(values, 'to-file'), optional(values, 'from-file')]
  const file = to ?? from
  if (file === undefined || (to !== undefined && from !== undefined))
    throw new UsageError(
      `give --to-file or --from-file, the file with the database's address. For example: ${EXAMPLE}`,
    )
  if (to !== undefined && values['preview'] !== true && !dryRun)
    throw new UsageError(
      'several nodes over a PostgreSQL are a preview in this release: give --preview to move an ' +
        'installation that may stand still until --from-file brings it back',
    )
  if (to !== undefined && !isInstallation(dir))
    throw new Error(
      folderFault(dir) ?? `no installation in ${resolve(dir)}; run \`quartermaster init\``,
    )
  const address = readDatabaseFile(file)
  const withoutHistory = values['without-history'] === true
  const bucket = optional(values, 'objects')
  const { objects } = objectsFromEnvironment(bucket === undefined ? {} : bucketIn(bucket))
  if (to !== undefined && !withoutHistory && !dryRun) await refuseWrong(objects)
  // Loaded with the command: nobody else needs it.
  const { moveToPostgres, moveFromPostgres } = await import('../../../lib/app/move/move.js')
  const done = await (to === undefined ? moveFromPostgres : moveToPostgres)({
    dir,
    address,
    now: Date.now,
    monotonic: () => performance.now(),
    random: randomBytes,
    objects,
    withoutHistory,
    acceptsDamage: values['accept-damage'] === true,
    dryRun,
    onProgress: progressTo(out),
    ...secretKeyFromEnvironment(),
  })
  show(out, done, dryRun)
  out.result({ ...done, dry_run: dryRun })
}

/** The history comes last: what is set wrong is told before the tables are copied. */
async function refuseWrong(objects: S3Store | undefined): Promise<void> {
  const check = await objects?.check()
  if (check?.verdict === 'wrong') throw new UsageError(`QUARTERMASTER_S3_*: ${check.line}`)
}

function progressTo(out: Output): (told: MoveProgress) => void {
  const bars = { copying: out.progress('copying'), verifying: out.progress('verifying') }
  return ({ doing, tables: [done, all], rows }) => {
    if (doing === 'copying' || doing === 'verifying') bars[doing](done, all, rows)
  }
}

function show(out: Output, done: MoveReport, dryRun: boolean): void {
  const { dir, database, tables, rows, took } = done
  const [source, target] = done.to === 'postgres' ? [dir, database] : [database, dir]
  if (done.was_done) return out.line(`What was in ${source} is in ${target} already.`)
  out.table(
    tables
      .filter((one) => one.rows > 0)
      .map((one) => ({
        table: one.table,
        rows: figure(one.rows),
        seconds: (one.took / SECOND).toFixed(1),
      })),
  )
  out.line(
    `${figure(rows)} rows of ${times(tables.length, 'table')} ${dryRun ? 'would be' : 'were'} moved ` +
      `from ${source} into ${target}${dryRun ? '' : `, in ${(took / SECOND).toFixed(1)} s`}.`,
  )
  if (dryRun) return out.line(DRY_RUN)
  out.line('Both have the same rows: each table was read again, and compared.')
  showHistory(out, done)
  showProofs(out, done)
  showLeft(out, done)
}

function showHistory(out: Output, { to, history }: MoveReport): void {
  if (history === null) return
  const { files, bytes } = history
  out.line(
    `The history of prices and stock is in the ${to === 'postgres' ? 'bucket' : 'folder'}: ` +
      `${times(files, 'file')}, ${figure(Math.ceil(bytes / 1_024))} kB packed; each was read again, ` +
      'and compared.',
  )
}

function showProofs(out: Output, { journal, audit }: MoveReport): void {
  const faults = [...(journal?.faults ?? []), ...(audit?.faults ?? [])]
  for (const { seq, fault } of faults) out.line(`Damaged as before, at ${seq ?? '-'}: ${fault}`)
  if (journal?.head) out.line(`Head of the order journal: ${journal.head.seq}:${journal.head.mac}`)
  if (audit?.head) out.line(`Head of the audit: ${audit.head.seq}:${audit.head.mac}`)
}

function showLeft(out: Output, { to, dir, left }: MoveReport): void {
  if (to === 'folder')
    return out.line(
      `Serve ${dir}, without QUARTERMASTER_DATABASE_FILE` +
        (existsSync(join(dir, 'keys', 'secret-key')) ? '' : ' and with the same secret key') +
        '; the database is not served any more. Drop it when you are sure.',
    )
  out.line(
    `The database has it now; ${dir} is not served any more. It still has what does not move:`,
  )
  out.table(
    left.map(({ path, files, bytes, what }) => ({ path, files, size: megabytes(bytes), what })),
  )
}

export const moveCommand: Command = {
  name: 'move',
  summary:
    'Preview: move what an installation knows into a PostgreSQL that several nodes share, and back ' +
    'into a folder',
  effect: 'writes',
  options: {
    'to-file': { type: 'string' },
    'from-file': { type: 'string' },
    objects: { type: 'string' },
    'without-history': { type: 'boolean' },
    'accept-damage': { type: 'boolean' },
    preview: { type: 'boolean' },
  },
  help: {
    'to-file': 'into the empty database whose address, postgres://..., stands in this file',
    'from-file': 'out of that database, into a new folder or the one that it came from',
    objects: 'bucket, as s3://BUCKET/PREFIX, in place of QUARTERMASTER_S3_BUCKET and _PREFIX',
    'without-history': 'the history of prices and stock stays where it is, as do the analytics',
    'accept-damage': 'also where the order journal or the audit is damaged, which stays as it is',
    preview: 'although several nodes are a preview of this release: to be tried, and brought back',
  },
  example: EXAMPLE,
  run: move,
}
