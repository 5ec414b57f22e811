/** The data keys of the installation, one for each subscriber and one for the operator, wrapped by the secret key. */
import type { OperatorCtx } from '../core/ctx.js'
import { OPERATOR, loadSecretKey, makeSealer, openVault, readNextKey, settleNextKey, writeNextKey } from '../core/secrets.js'
import type { Sealer, Secrets, Vault } from '../core/secrets.js'
import type { Engine } from '../db/engine.js'
import { audit } from './audit.js'

type Random = (bytes: number) => Buffer

/**
 * Opens the secrets of a folder. Throws when its secret key is not the one that the database was made with: nothing that
 * is stored could be opened, and whatever were sealed now could not be opened later.
 */
export async function openSecrets(engine: Engine, key: Buffer, random: Random): Promise<Secrets> {
  const vault = await knownVault(engine, openVault(key, random), random)
  const wrapped = engine.reader.prepare('SELECT wrapped FROM data_key WHERE owner = ?').pluck()
  const sealers = new Map<string, Sealer>()
  return {
    newDataKey: vault.newDataKey,
    of(owner) {
      let sealer = sealers.get(owner)
      if (!sealer) {
        const text = wrapped.get(owner) as string | undefined
        if (text === undefined) throw new Error(`${owner} has no data key`)
        sealers.set(owner, sealer = makeSealer(vault.unwrap(text, owner), random))
      }
      return sealer
    },
  }
}

/** The vault, once the database agrees that its key is the right one; a fresh database is told of it. */
async function knownVault(engine: Engine, vault: Vault, random: Random): Promise<Vault> {
  const readId = engine.reader.prepare('SELECT key_id FROM secret_key').pluck()
  if (readId.get() === undefined) {
    await engine.atomic({ db: engine.db, read: engine.read }, async ({ db }) => {
      const others = await db.selectFrom('secret_key').select('key_id').execute()
      if (others.length > 0) return
      await db.insertInto('secret_key').values({ key_id: vault.id }).execute()
      await db.insertInto('data_key').values({ owner: OPERATOR, wrapped: vault.newDataKey(OPERATOR) }).execute()
    })
  }
  const id = readId.get() as string
  const next = readNextKey(engine.dir)
  if (next) {
    const isKnown = openVault(next, random).id === id
    settleNextKey(engine.dir, isKnown)
    if (isKnown) return openVault(next, random)
  }
  if (id !== vault.id) {
    throw new Error(`the secret key is not the one that this installation was made with (it has the id ${vault.id}, the database names ${id}): restore keys/secret-key from your own copy, or set QUARTERMASTER_SECRET_KEY to the right one`)
  }
  return vault
}

/**
 * Replaces the secret key of a folder that keeps it in its own file, and wraps every data key anew; what they sealed
 * stays as it is. No server may run meanwhile. A rotation that is cut off is finished or undone by the next start.
 */
export async function rotateSecretKey(ctx: OperatorCtx): Promise<{ key_id: string; data_keys: number }> {
  const { engine, random } = ctx
  if (!engine.lock('serve')) throw new Error(`a server runs on ${engine.dir}; stop it before the secret key is rotated`)
  const old = openVault(loadSecretKey(engine.dir, { fresh: false, random }), random)
  const key = random(32)
  const vault = openVault(key, random)
  writeNextKey(engine.dir, key)
  const dataKeys = await engine.atomic(ctx, async (tx) => {
    const rows = await tx.db.selectFrom('data_key').selectAll().execute()
    for (const { owner, wrapped } of rows) {
      await tx.db.updateTable('data_key').set({ wrapped: old.rewrap(wrapped, owner, vault) }).where('owner', '=', owner).execute()
    }
    await tx.db.updateTable('secret_key').set({ key_id: vault.id }).execute()
    await audit(tx, 'secrets.rotate', { from: old.id, to: vault.id })
    return rows.length
  })
  settleNextKey(engine.dir, true)
  return { key_id: vault.id, data_keys: dataKeys }
}
