import { existsSync } from 'node:fs'
import { access, constants, open, readFile, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { figure } from '../../../lib/core/figures.js'
import { codeOf, invalid } from '../../../lib/core/errors.js'
import { findSubscriber } from '../../../lib/accounts/subscribers.js'
import { sharedKey } from '../../../lib/fraud/sharing/partners.js'
import { argument, required } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { printable } from '../faults.js'
import { withApp } from '../with-app.js'
import { carriesOut } from '../operation-help.js'
import { fraudOperations } from '../../../lib/fraud/operations.js'

const ERASE = 'quartermaster fraud erase --subscriber "Main Street Guns"'
const PARTNER = 'quartermaster fraud partner coast --key ./coast.key'
const EXPORT = 'quartermaster fraud export coast --out ./signals.ndjson'

async function stats({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const found = await app.operator.fraud.stats()
    const since =
      found.first_reported === null ? '' : `, ${found.first_reported} to ${found.last_reported}`
    out.line(
      `${found.reports} reports by ${found.dealers} dealers, ${found.signals} signals${since}.`,
    )
    if (found.by_subscriber.length > 0) out.table(found.by_subscriber.map((row) => ({ ...row })))
    if (found.partners.length > 0) out.table(found.partners.map((row) => ({ ...row })))
    if (found.under_old_keys > 0)
      out.line(`${found.under_old_keys} reports wait to be brought under the key of now.`)
    if (found.unreadable > 0)
      out.line(
        `${found.unreadable} reports cannot be opened, and stay under an old key; the log ` +
          'names them.',
      )
    out.result(found)
  })
}

async function quotas({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const { limits, keys } = await app.operator.fraud.quotas()
    out.line(
      `In any 24 hours a key may send ${figure(limits.checks)} checks, ${limits.reports} reports ` +
        `and ${limits.removals} removals.`,
    )
    if (keys.length === 0) out.line('No key has sent one in the last 24 hours.')
    else
      out.table(
        keys.map(({ key, name, subscriber, ...used }) => ({
          key,
          name: printable(name),
          subscriber: printable(subscriber),
          ...used,
        })),
      )
    out.result({ limits, keys })
  })
}

async function erase({ dir, values, out, dryRun }: Invocation): Promise<void> {
  const name = required(values, 'subscriber', ERASE)
  await withApp(dir, async (app) => {
    const subscriber = await findSubscriber(app.ctx, name)
    const known =
      (await app.operator.fraud.stats()).by_subscriber.find(
        (row) => row.subscriber === subscriber.name,
      )?.reports ?? 0
    const { removed } = dryRun ? { removed: known } : await app.operator.fraud.erase(name)
    out.line(
      dryRun
        ? `${removed} reports of ${subscriber.name} would be removed.`
        : `${removed} reports of ${subscriber.name} are removed, with all that was kept of them.`,
    )
    out.result({ subscriber: subscriber.name, removed, dry_run: dryRun })
  })
}

async function rotateKey({ dir, out, dryRun }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    if (dryRun) {
      // Those of partners stay under the keys that are shared with them.
      const reports = (await app.operator.fraud.stats()).by_subscriber.reduce(
        (sum, row) => sum + row.reports,
        0,
      )
      out.line(`A new key would be made, and the signals of ${reports} reports kept under it.`)
      out.result({ reports, dry_run: true })
      return
    }
    const progress = out.progress('reports')
    const done = await app.operator.fraud.rotateKey((at, total) => progress(at, total, at))
    out.line(
      `The signals of ${done.reports} reports are kept under a new ` +
        'key.' +
        (done.unreadable > 0
          ? ` ${done.unreadable} cannot be opened and stay under the old one; the log names them.`
          : ''),
    )
    out.result(done)
  })
}

async function partner({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const name = argument(args, 0)
  if (values['remove'] === true) {
    if (values['key'] !== undefined)
      throw invalid('remove', 'a key is kept or a partnership ended, not both')
    await withApp(dir, async (app) => {
      const { reports } = await app.operator.fraud.removePartner(name, { dryRun })
      out.line(
        dryRun
          ? `The key of ${name} and ${reports} reports that came from it would be removed.`
          : `The key of ${name} and ${reports} reports that came from it are removed.`,
      )
      out.result({ partner: name, removed: reports, dry_run: dryRun })
    })
    return
  }
  const file = required(values, 'key', PARTNER)
  const secret = (
    await readFile(file, 'utf8').catch(() => {
      throw invalid('key', `cannot read ${file}`)
    })
  ).trim()
  if (!/^[0-9a-f]{64}$/i.test(secret))
    throw invalid(
      'key',
      `${file} must hold 64 hex digits, the same as the partner's; \`openssl rand -hex ` +
        '32` makes them',
    )
  await withApp(dir, async (app) => {
    await app.operator.fraud.addPartner(name, secret, { dryRun })
    out.line(
      dryRun
        ? `The key of ${name} would be kept.`
        : `The key of ${name} is kept. Send it to nobody else: who has it and a batch can ` +
            'try out what was reported.',
    )
    out.result({ partner: name, dry_run: dryRun })
  })
}

/** A new file that only its owner reads; under --dry-run none, but the refusals of the real run. */
async function newFile(path: string, dryRun: boolean): Promise<FileHandle | null> {
  if (existsSync(path)) throw invalid('out', `${path} is there already; name another file`)
  try {
    if (!dryRun) return await open(path, 'wx', 0o600)
    await access(dirname(path), constants.W_OK)
    return null
  } catch (error) {
    throw invalid('out', `cannot write ${path} (${codeOf(error)})`)
  }
}

async function exportSignals({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const name = argument(args, 0)
  const path = required(values, 'out', EXPORT)
  await withApp(dir, async (app) => {
    await sharedKey(app.ctx, name)
    const file = await newFile(path, dryRun)
    let [lines, unreadable] = [0, 0]
    try {
      for await (const line of app.operator.fraud.exportBatch(name, {
        dryRun,
        onUnreadable: () => {
          unreadable++
        },
      })) {
        await file?.write(`${line}\n`)
        lines++
      }
    } catch (error) {
      if (file) await rm(path, { force: true })
      throw error
    } finally {
      await file?.close()
    }
    const reports = Math.max(0, lines - 2)
    out.line(
      dryRun
        ? `${reports} reports would be written.`
        : `${reports} reports are in ${path}, as hashes under the key that is shared with ` +
            `${name}.`,
    )
    if (unreadable > 0)
      out.line(`${unreadable} reports cannot be opened and are left out; the log names them.`)
    out.result({ partner: name, reports, unreadable, dry_run: dryRun })
  })
}

async function importSignals({ dir, args, out, dryRun }: Invocation): Promise<void> {
  const name = argument(args, 0)
  const path = argument(args, 1)
  await withApp(dir, async (app) => {
    const done = await app.operator.fraud.importBatch(name, path, { dryRun })
    out.line(
      `${done.reports} reports of ${done.dealers} dealers ` +
        `${dryRun ? 'would be taken in' : `are taken in, ${done.removed} older ones removed`}.`,
    )
    out.result({ partner: name, ...done, dry_run: dryRun })
  })
}

export const fraudCommands: Command[] = [
  carriesOut(fraudOperations, 'fraud.stats', {
    name: 'fraud stats',
    effect: 'reads',
    example: 'quartermaster fraud stats',
    run: stats,
  }),
  carriesOut(fraudOperations, 'fraud.quotas', {
    name: 'fraud quotas',
    effect: 'reads',
    example: 'quartermaster fraud quotas',
    run: quotas,
  }),
  carriesOut(fraudOperations, 'fraud.erase', {
    name: 'fraud erase',
    effect: 'writes',
    options: { subscriber: { type: 'string' } },
    example: ERASE,
    run: erase,
  }),
  carriesOut(fraudOperations, 'fraud.rotateKey', {
    name: 'fraud rotate-key',
    effect: 'writes',
    example: 'quartermaster fraud rotate-key',
    run: rotateKey,
  }),
  carriesOut(fraudOperations, 'fraud.addPartner', {
    name: 'fraud partner',
    effect: 'writes',
    positionals: ['<PARTNER>'],
    options: { key: { type: 'string' }, remove: { type: 'boolean' } },
    acts: { remove: 'fraud.removePartner' },
    members: { '<PARTNER>': 'name' },
    adds: { key: 'the file that holds them' },
    example: PARTNER,
    run: partner,
  }),
  {
    name: 'fraud export',
    summary: 'Write the signals reported here for a partner, as hashes under the shared key',
    effect: 'writes',
    positionals: ['<PARTNER>'],
    options: { out: { type: 'string' } },
    help: { '<PARTNER>': 'its name', out: 'file to write; it must not be there yet' },
    example: EXPORT,
    run: exportSignals,
  },
  carriesOut(fraudOperations, 'fraud.importBatch', {
    name: 'fraud import',
    effect: 'writes',
    positionals: ['<PARTNER>', '<FILE>'],
    help: { '<FILE>': 'what its `fraud export` wrote' },
    example: 'quartermaster fraud import coast ./signals.ndjson',
    run: importSignals,
  }),
]
