/** Copies of the installation, and putting one back. */
import { resolve } from 'node:path'
import { HOUR, SECOND } from '../../../lib/core/clock.js'
import { figure, megabytes, times } from '../../../lib/core/figures.js'
import { checkBackup } from '../../../lib/app/backup/check.js'
import type { BackupCheck, Contents } from '../../../lib/app/backup/check.js'
import { backupOf } from '../../../lib/app/backup/drill.js'
import { printable } from '../faults.js'
import { drillBackup, restoreBackup } from '../../../lib/app/backup/restore.js'
import { argument, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { secretKeyFromEnvironment } from '../../env.js'
import { withApp } from '../with-app.js'
import { carriesOut } from '../operation-help.js'
import { installationOperations } from '../../../lib/app/operations/installation.js'

async function backup({ dir, args, out, dryRun }: Invocation): Promise<void> {
  const to = argument(args, 0)
  await withApp(dir, async (app) => {
    const made = await app.operator.backup({
      to,
      dryRun,
      onProgress: out.progress('copying', 'files'),
    })
    out.line(
      `${made.files.length} files, ${megabytes(made.bytes)}, ` +
        `${dryRun ? 'would be copied' : 'were copied'} to ${made.to}.`,
    )
    if (!dryRun) {
      out.line(
        `The secret key is not among them: keep a copy of ${resolve(dir, 'keys')} ` +
          'elsewhere. Without it the backup cannot be opened.',
      )
      if (made.journal)
        out.line(`Head of the order journal: ${made.journal.seq}:${made.journal.mac}`)
      if (made.audit) out.line(`Head of the audit: ${made.audit.seq}:${made.audit.mac}`)
    }
    out.result({ ...made, dry_run: dryRun })
  })
}

async function restore({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const from = argument(args, 0)
  const done = await restoreBackup({
    backup: from,
    dir,
    keys: optional(values, 'keys'),
    dryRun,
    actor: 'cli',
    ...secretKeyFromEnvironment(),
  })
  out.line(`The backup of ${done.made_at} is whole: ${done.files} files, ${megabytes(done.bytes)}.`)
  if (done.journal_kept)
    out.line(
      `The folder's own orders.journal goes on from it and ${dryRun ? 'would be' : 'was'} ` +
        'kept' +
        (dryRun ? '' : `: ${done.replayed} lines that the backup lacks were written down again`) +
        '.',
    )
  if (dryRun) out.line(`It would be put into ${done.dir}, with orders paused.`)
  else {
    if (done.replaced !== null) out.line(`What was there lies in ${done.replaced}.`)
    if (done.doubted > 0)
      out.line(
        `${done.doubted} orders were to be sent when it was made; whether they were is ` +
          'found out before anything is sent.',
      )
    out.line(
      `It is in place in ${done.dir}. Orders are paused, since some may have been forgotten.`,
    )
    const reconcile = `quartermaster orders reconcile --dir ${quoted(done.dir)} --since ${done.made_at}`
    out.line('To ask the distributors what was forgotten, and report it:')
    out.line(`  ${reconcile}`)
    out.line('To let orders be placed again:')
    out.line(`  ${reconcile} --resume`)
  }
  out.result({ ...done, dry_run: dryRun })
}

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Where the secret key of a backup may lie. */
function keyPlaces({ dir, values }: Pick<Invocation, 'dir' | 'values'>) {
  return { dir, keys: optional(values, 'keys'), ...secretKeyFromEnvironment() }
}

async function verify(invocation: Invocation): Promise<number> {
  const { args, out } = invocation
  const found = await checkBackup(argument(args, 0), keyPlaces(invocation))
  out.line(
    `The backup of ${found.made_at} is whole: ${found.files} files, ${megabytes(found.bytes)}; ` +
      'its databases are sound.',
  )
  if (found.contents) out.line(contentLine(found.contents))
  if (found.unproved !== null)
    out.line(`Journal and audit were not proved, since ${found.unproved}.`)
  showProofs(out, found)
  out.result(found)
  return found.sound ? 0 : 1
}

function contentLine({ subscribers, keys, orders, purchase_orders: pos }: Contents): string {
  return (
    `It has ${times(subscribers, 'shop')}, ${times(keys, 'key')}, ${times(orders, 'order')} and ` +
    `${times(pos, 'purchase order')}.`
  )
}

function showProofs(
  out: Invocation['out'],
  { journal, audit }: Pick<BackupCheck, 'journal' | 'audit'>,
): void {
  for (const { where, seq, fault } of journal?.faults ?? [])
    out.line(printable(seq === null ? `${where}: ${fault}` : `${where}, line ${seq}: ${fault}`))
  for (const { seq, fault } of audit?.faults ?? []) out.line(`audit, row ${seq}: ${fault}`)
  if (journal?.sound)
    out.line(
      journal.head
        ? `The order journal is whole, up to its head ${journal.head.seq}:${journal.head.mac}.`
        : 'The order journal is empty.',
    )
  if (audit?.sound)
    out.line(`The ${figure(audit.rows)} rows of the audit are as they were written.`)
}

async function restoreDrill(invocation: Invocation): Promise<number> {
  const { args, values, out, dryRun } = invocation
  const from = argument(args, 0)
  if (dryRun) {
    const backup = backupOf(resolve(from))
    out.line(`${backup} would be put back into a throwaway folder, proved, and removed again.`)
    out.result({ backup, dry_run: true })
    return 0
  }
  const done = await drillBackup({
    from,
    scratch: optional(values, 'scratch'),
    now: Date.now,
    monotonic: () => performance.now(),
    ...keyPlaces(invocation),
  })
  const seconds = (ms: number) => `${(ms / SECOND).toFixed(1)} s`
  out.line(
    `${done.backup}, ${(done.age / HOUR).toFixed(1)} hours old, ${megabytes(done.bytes)}: restored in ` +
      `${seconds(done.restored_in)}, opened and proved after ${seconds(done.proved_in)}.`,
  )
  out.line(contentLine(done.contents))
  showProofs(out, done)
  out.line(done.sound ? 'The drill went well.' : 'This backup cannot be relied on: make another.')
  out.result({ ...done, dry_run: false })
  return done.sound ? 0 : 1
}

const KEYS = { keys: { type: 'string' } } as const
const KEYS_HELP = {
  keys: 'folder with your copy of keys/; those of the state folder by default',
}

export const backupCommands: Command[] = [
  carriesOut(installationOperations, 'backups.make', {
    name: 'backup',
    effect: 'writes',
    positionals: ['<FOLDER>'],
    members: { '<FOLDER>': 'to' },
    example: 'quartermaster backup /backups/2026-11-21',
    run: backup,
  }),
  {
    name: 'restore',
    summary:
      'Put a backup back, into an empty folder or over an installation that nobody serves; ' +
      'orders are paused then',
    effect: 'writes',
    positionals: ['<FOLDER>'],
    options: { keys: { type: 'string' } },
    help: {
      '<FOLDER>': 'the backup',
      keys: 'folder with your copy of keys/, where the state folder has none',
    },
    example: 'quartermaster restore /backups/2026-11-21 --dir /srv/quartermaster --keys /safe/keys',
    run: restore,
  },
  carriesOut(installationOperations, 'backups.verify', {
    name: 'verify',
    effect: 'reads',
    positionals: ['<BACKUP>'],
    options: KEYS,
    members: { '<BACKUP>': 'to' },
    help: KEYS_HELP,
    example: 'quartermaster verify /backups/2026-11-21 --keys /safe/keys',
    run: verify,
  }),
  carriesOut(installationOperations, 'backups.drill', {
    name: 'drill',
    effect: 'writes',
    positionals: ['<FOLDER>'],
    options: { ...KEYS, scratch: { type: 'string' } },
    members: { '<FOLDER>': 'to' },
    note: 'of a folder of backups, the newest',
    adds: { '<FOLDER>': 'or a folder of backups' },
    help: {
      ...KEYS_HELP,
      scratch: "where the throwaway folder is made; the system's temporary folder by default",
    },
    example: 'quartermaster drill /backups --keys /safe/keys',
    run: restoreDrill,
  }),
]
