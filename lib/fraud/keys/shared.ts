/**
 * The keys of fraud signals of an installation of several nodes: in their database, sealed under the
 * secret key that all of them have, so that what one reports another one finds.
 */
import type { Kysely } from 'kysely'
import { OPERATOR } from '../../core/storage/secrets.js'
import type { Secrets } from '../../core/storage/secrets.js'
import type { Engine } from '../../db/engine.js'
import { query } from '../../db/query.js'
import type { Reading } from '../../db/query.js'
import { all } from '../../db/reading.js'
import type { FraudKeyTable } from '../../db/tables/nodes.js'
import type { Tables } from '../../db/tables/tables.js'
import { LOCAL, firstKey } from './keys.js'
import type { KeyStore, KeyTexts } from './keys.js'

type SecretsOf = Pick<Secrets, 'of'>

const keysOf = (db: Kysely<Tables>) => db.withTables<{ fraud_key: FraudKeyTable }>()

const sealedKeys = query((db) => keysOf(db).selectFrom('fraud_key').select(['name', 'sealed']))

/** Binds a sealed key to its name. */
const purposeOf = (name: string) => `fraud key ${name}`

export const sealKey = (secrets: SecretsOf, name: string, text: string): string =>
  secrets.of(OPERATOR).seal(text, purposeOf(name))

/** Throws where it was sealed under another name, or by another installation. */
export const openKey = (secrets: SecretsOf, { name, sealed }: FraudKeyTable): string =>
  secrets.of(OPERATOR).open(sealed, purposeOf(name))

const hasFirst = async (db: Kysely<Tables>): Promise<boolean> =>
  (await keysOf(db)
    .selectFrom('fraud_key')
    .select('name')
    .where('name', '=', LOCAL)
    .executeTakeFirst()) !== undefined

/** The keys in the database. The first local one is made where there is none. */
export async function keysInDatabase(
  engine: Pick<Engine, 'db' | 'read' | 'atomic'>,
  secrets: SecretsOf,
  random: (bytes: number) => Buffer,
): Promise<KeyStore> {
  const { db, read } = engine
  if (!(await hasFirst(read)))
    await engine.atomic({ db, read }, async (tx) => {
      if (!(await hasFirst(tx.db))) await write(tx.db, LOCAL, firstKey(random))
    })

  async function write(tx: Kysely<Tables>, name: string, text: string): Promise<void> {
    const sealed = sealKey(secrets, name, text)
    await keysOf(tx)
      .insertInto('fraud_key')
      .values({ name, sealed })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ sealed }))
      .execute()
  }

  function textOf(row: FraudKeyTable): string {
    try {
      return openKey(secrets, row)
    } catch {
      return ''
    }
  }

  function* texts(): Reading<KeyTexts> {
    const rows = yield* all(sealedKeys)
    return {
      byName: new Map(rows.map((row) => [row.name, textOf(row)])),
      placeOf: (name) => `${name} of the table fraud_key`,
    }
  }

  return {
    texts,
    withFirst: texts,
    write,
    async remove(tx, name) {
      await keysOf(tx).deleteFrom('fraud_key').where('name', '=', name).execute()
    },
  }
}
