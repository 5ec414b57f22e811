import { withApp } from '../with-app.js'
import type { Command } from '../command.js'

export const initCommand: Command = {
  name: 'init', summary: 'Make an empty installation: state folder and secret key',
  example: 'quartermaster init --dir /srv/quartermaster',
  run: async ({ dir, out, dryRun }) => {
    if (dryRun) return out.line(`Would prepare ${dir}.`)
    await withApp(dir, async (app) => {
      out.line(`${app.dir} is ready. Keep a copy of ${app.dir}/keys apart from your backups.`)
      out.result({ dir: app.dir })
    })
  },
}
