/** Copies of the installation, and putting one back. */
import { resolve } from 'node:path'
import { megabytes } from '../../../lib/core/figures.js'
import { restoreBackup } from '../../../lib/app/backup/restore.js'
import { argument, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { secretKeyFromEnvironment } from '../../env.js'
import { withApp } from '../with-app.js'

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

export const backupCommands: Command[] = [
  {
    name: 'backup',
    summary: 'Copy the installation to an empty folder, while a server runs',
    effect: 'writes',
    positionals: ['<FOLDER>'],
    help: { '<FOLDER>': 'where to; it is made where it is not there' },
    example: 'quartermaster backup /backups/2026-11-21',
    run: backup,
  },
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
]
