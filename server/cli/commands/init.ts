import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadSecretKey } from '../../../lib/core/storage/secrets.js'
import { consoleAddress, linkAddress } from '../../../lib/console/address.js'
import { firstLink } from '../../../lib/console/links.js'
import type { OperatorCtx } from '../../../lib/app/ctx.js'
import type { Command } from '../command.js'
import { databaseFromEnvironment, secretKeyFromEnvironment } from '../../env.js'
import { isInstallation, withApp } from '../with-app.js'

/** What stands in the way of an installation here, without making anything. */
function checkPlace(dir: string): void {
  let place = dir
  while (!existsSync(place)) place = dirname(place)
  if (!statSync(place).isDirectory())
    throw new Error(`${place} is a file; an installation needs a folder`)
  const { secretKey } = secretKeyFromEnvironment()
  if (secretKey !== undefined)
    loadSecretKey(dir, { fresh: false, fromEnvironment: secretKey, random: () => Buffer.alloc(0) })
}

async function firstLinkOf(ctx: OperatorCtx): Promise<string | null> {
  const link = await firstLink(ctx)
  return link && linkAddress(await consoleAddress(ctx), link.token)
}

export const initCommand: Command = {
  name: 'init',
  summary:
    'Make an empty installation: state folder and secret key; an existing one stays as it is',
  effect: 'writes',
  example: 'quartermaster init --dir /srv/quartermaster',
  run: async ({ dir: folder, out, dryRun }) => {
    const dir = resolve(folder)
    checkPlace(dir)
    if (dryRun) {
      const exists = isInstallation(dir)
      // Opening it proves that its key is there and its files can be read.
      if (exists) await withApp(dir, async () => {})
      out.line(
        exists
          ? `${dir} holds an installation; nothing would change.`
          : `An empty installation would be made in ${dir}.`,
      )
    } else {
      const link = await withApp(dir, ({ ctx }) => firstLinkOf(ctx), { create: true })
      out.line(
        databaseFromEnvironment() === undefined
          ? `${dir} is ready. Keep a copy of ${dir}/keys apart from your backups.`
          : 'The database is ready. Keep a copy of the secret key apart from its backups.',
      )
      if (link !== null)
        out.line(
          `Set a password for the console, once a server runs, within 15 minutes:\n  ${link}`,
        )
      return out.result({ dir, console: link })
    }
    out.result({ dir, dry_run: true })
  },
}
