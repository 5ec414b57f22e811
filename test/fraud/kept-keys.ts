/** The keys of fraud signals as they are kept, wherever that is. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import type { App } from '../../lib/app/open.js'
import { touch } from '../../lib/db/state.js'
import { LOCAL } from '../../lib/fraud/keys/keys.js'
import type { KeyTexts } from '../../lib/fraud/keys/keys.js'
import type { TestApp } from '../../server/testing/index.js'
import { clientOfRecord, isOnPostgres } from '../harness/record.js'

type Opened = Pick<TestApp, 'app'>

export const keyTexts = ({ app: { ctx } }: Opened): Promise<KeyTexts> =>
  ctx.engine.look(() => ctx.fraudKeyStore.texts())

/** The local ones. */
export const localText = async (t: Opened): Promise<string> =>
  (await keyTexts(t)).byName.get(LOCAL)!

/** Writes another text in the place of a key, as somebody does by hand. */
export const writeKey = ({ app }: Opened, name: string, text: string): Promise<void> =>
  byHand(app, {
    inFolder(path) {
      rmSync(path(name), { recursive: true, force: true })
      writeFileSync(path(name), text)
    },
    inDatabase: (tx) => tx.fraudKeyStore.write(tx.db, name, text),
  })

/** Nobody can read a key any more. */
export const spoilKey = ({ app }: Opened, name: string): Promise<void> =>
  byHand(app, {
    inFolder(path) {
      rmSync(path(name))
      mkdirSync(path(name))
    },
    inDatabase: async (tx) => {
      await sql`update fraud_key set sealed = 'nothing' where name = ${name}`.execute(tx.db)
    },
  })

/** The local keys are lost; over nodes another one takes their place, as in a folder by itself. */
export const loseKeys = ({ app }: Opened): Promise<void> =>
  byHand(app, {
    inFolder: (path) => rmSync(path(LOCAL)),
    inDatabase: (tx) => tx.fraudKeyStore.write(tx.db, LOCAL, `1 ${'5f'.repeat(32)}`),
  })

interface Change {
  inFolder: (path: (name: string) => string) => void
  inDatabase: (tx: OperatorCtx) => Promise<void>
}

/** Changes what is kept, and has it read again. */
async function byHand({ ctx, dir }: App, { inFolder, inDatabase }: Change): Promise<void> {
  await ctx.engine.atomic(ctx, async (tx) => {
    if (isOnPostgres) await inDatabase(tx)
    else inFolder((name) => join(dir, 'keys', name))
    await touch(tx.db, 'fraud')
  })
}

/** Keeps all from writing reports until the function that it resolves with is called; over nodes. */
export async function holdReports({ app }: Opened): Promise<() => Promise<void>> {
  if (!isOnPostgres) return async () => {}
  const client = clientOfRecord(app.dir)
  await client.connect()
  await client.query('begin; lock table quartermaster.fraud_report in exclusive mode')
  return () => client.end()
}
