import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../lib/app/open.js'
import type { Command, Invocation } from '../command.js'
import { secretKeyFromEnvironment } from '../../env.js'
import { withApp } from '../with-app.js'

/**
 * A key of the environment, or of several nodes, is not this program's to change: the next start
 * would come with the old one.
 */
function refuseSharedKey({ ctx, dir }: App): void {
  if (ctx.engine.lead !== null)
    throw new Error(
      'the secret key of several nodes is replaced in a folder: stop them, move the installation ' +
        'there with `quartermaster move --from-file`, rotate, and move it back',
    )
  if (secretKeyFromEnvironment().secretKey === undefined) return
  throw new Error(
    'the secret key comes from QUARTERMASTER_SECRET_KEY, which only you can change: stop ' +
      `the server, write the key to ${join(dir, 'keys', 'secret-key')}, unset the variable, ` +
      'rotate, and set the variable to what the file then holds',
  )
}

async function rotate({ dir, out, dryRun }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    refuseSharedKey(app)
    if (dryRun) return tryRotation(app, out)
    const done = await app.operator.secrets.rotate()
    out.line(
      `The secret key is replaced by a new one, ${done.key_id}; it wraps ${done.data_keys} ` +
        `data keys.\nKeep a copy of ${join(app.dir, 'keys')} apart from your backups. ` +
        'Backups made before this need the copy from before.',
    )
    out.result(done)
  })
}

async function tryRotation({ ctx, dir }: App, out: Invocation['out']): Promise<void> {
  // Where nobody has ever served there is no lock, and taking it would leave one behind.
  if (existsSync(join(dir, 'serve.lock')) && !ctx.engine.lock('serve'))
    throw new Error(`a server runs on ${dir}; stop it before the secret key is rotated`)
  const { count } = await ctx.read
    .selectFrom('data_key')
    .select((query) => query.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  out.line(`The secret key would be replaced by a new one, and ${count} data keys wrapped by it.`)
  out.result({ data_keys: count, dry_run: true })
}

export const secretCommands: Command[] = [
  {
    name: 'secrets rotate',
    summary: 'Replace the secret key of the folder; what it protects stays as it is',
    effect: 'writes',
    example: 'quartermaster secrets rotate',
    run: rotate,
  },
]
