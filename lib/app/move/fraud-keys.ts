/**
 * The keys of fraud signals, which move with the record: a folder has them in `keys/`, nodes sealed
 * in their database.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeKeyFile } from '../../core/storage/secrets.js'
import type { Secrets } from '../../core/storage/secrets.js'
import type { MoveClient } from '../../db/move/postgres-state.js'
import type { FraudKeyTable } from '../../db/tables/nodes.js'
import { isKeyName } from '../../fraud/keys/keys.js'
import { openKey, sealKey } from '../../fraud/keys/shared.js'

type SecretsOf = Pick<Secrets, 'of'>
/** Texts, by name. */
type Keys = ReadonlyMap<string, string>

/** Puts those of a folder in the place of what the database has. In a transaction. */
export async function putFraudKeys(
  client: MoveClient,
  secrets: SecretsOf,
  keys: Keys,
): Promise<void> {
  await client.query('DELETE FROM fraud_key')
  for (const [name, text] of keys)
    await client.query('INSERT INTO fraud_key (name, sealed) VALUES ($1, $2)', [
      name,
      sealKey(secrets, name, text),
    ])
}

/** Throws where one was sealed by another installation, or is damaged. */
export async function readFraudKeys(client: MoveClient, secrets: SecretsOf): Promise<Keys> {
  const { rows } = await client.query('SELECT name, sealed FROM fraud_key')
  return new Map(
    (rows as unknown as FraudKeyTable[]).map((row) => [row.name, openKey(secrets, row)]),
  )
}

/** Has a folder keep these, and no others. */
export function keepFraudKeys(dir: string, keys: Keys): void {
  const folder = join(dir, 'keys')
  for (const [name, text] of keys) writeKeyFile(join(folder, name), text)
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (isKeyName(name) && !keys.has(name)) rmSync(join(folder, name), { force: true })
}
