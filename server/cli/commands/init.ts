import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadSecretKey } from '../../../lib/core/storage/secrets.js'
import type { Command } from '../command.js'
import { secretKeyFromEnvironment } from '../../env.js'
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
      await withApp(dir, async () => {}, { create: true })
      out.line(`${dir} is ready. Keep a copy of ${dir}/keys apart from your backups.`)
    }
    out.result({ dir, ...(dryRun && { dry_run: true }) })
  },
}
