/**
 * The data keys of the installation, one for each subscriber and one for the operator, wrapped by
 * the secret key.
 */
import type { AccountsCtx } from './ctx.js'
import {
  OPERATOR,
  loadSecretKey,
  makeSealer,
  openVault,
  readNextKey,
  settleNextKey,
  writeNextKey,
} from '../core/storage/secrets.js'
import type { Sealer, Secrets, Vault } from '../core/storage/secrets.js'
import type { Engine } from '../db/engine.js'
import { query } from '../db/query.js'
import type { Reader } from '../db/query.js'
import { lists, value } from '../db/reading.js'
import { touch } from '../db/state.js'
import { audit } from './audit.js'

type Random = (bytes: number) => Buffer

const wrappedKeys = query((db) => db.selectFrom('data_key').select(['owner', 'wrapped']))
const wrappedKey = query((db, given: { owner: string }) =>
  db.selectFrom('data_key').select('wrapped').where('owner', '=', given.owner),
)
/** Which secret key the installation was made with. */
export const secretKeyId = query((db) => db.selectFrom('secret_key').select('key_id'))

/**
 * Opens the secrets of a folder. Throws when its secret key is not the one that the database was
 * made with: nothing that is stored could be opened, and whatever were sealed now could not be
 * opened later.
 */
export async function openSecrets(engine: Engine, key: Buffer, random: Random): Promise<Secrets> {
  let vault = await knownVault(engine, openVault(key, random), random)
  const sealers = new Map<string, Sealer>()
  const wrapped = engine.remember('keys', function* () {
    return new Map((yield* lists(wrappedKeys)) as [owner: string, wrapped: string][])
  })
  const wrappedOf = (owner: string) => {
    // It may have been made in this very turn.
    if (!wrapped().has(owner)) engine.lookAgain()
    return wrapped().get(owner)
  }
  return {
    get keyId() {
      return vault.id
    },
    newDataKey: (owner) => vault.newDataKey(owner),
    replaceKey(next) {
      vault = next
    },
    of(owner) {
      let sealer = sealers.get(owner)
      if (!sealer) {
        const text = wrappedOf(owner)
        if (text === undefined) throw new Error(`${owner} has no data key`)
        sealers.set(owner, (sealer = makeSealer(vault.unwrap(text, owner), random)))
      }
      return sealer
    },
  }
}

/**
 * The secrets of a folder that nobody has opened: what is sealed can be read, and nothing is sealed
 * unless `random` is given. Null where the key is not the folder's.
 */
export function readSecrets(
  reader: Reader,
  key: Buffer,
  random: Random = refuseToSeal,
): Pick<Secrets, 'of' | 'keyId'> | null {
  const vault = openVault(key, random)
  if (reader.value(secretKeyId) !== vault.id) return null
  return {
    keyId: vault.id,
    of(owner) {
      const text = reader.value(wrappedKey, { owner })
      if (text === undefined) throw new Error(`${owner} has no data key`)
      return makeSealer(vault.unwrap(text, owner), random)
    },
  }
}

function refuseToSeal(): never {
  throw new Error('nothing is sealed here')
}

/**
 * Makes a subscriber's data key, in the transaction that makes the subscriber. Throws when the
 * secret key was replaced since this process started: what the former key wraps could never be
 * unwrapped.
 */
export async function addDataKey({ db, secrets }: AccountsCtx, owner: string): Promise<void> {
  const { key_id: known } = await db
    .selectFrom('secret_key')
    .select('key_id')
    .executeTakeFirstOrThrow()
  if (known !== secrets.keyId)
    throw new Error('the secret key was replaced since this process started: start it again')
  await db
    .insertInto('data_key')
    .values({ owner, wrapped: secrets.newDataKey(owner) })
    .execute()
}

/**
 * The vault, once the database agrees that its key is the right one; a fresh database is told of
 * it.
 */
async function knownVault(engine: Engine, vault: Vault, random: Random): Promise<Vault> {
  if ((await engine.look(() => value(secretKeyId))) === undefined) {
    await engine.atomic({ db: engine.db, read: engine.read }, async ({ db }) => {
      const others = await db.selectFrom('secret_key').select('key_id').execute()
      if (others.length > 0) return
      await db.insertInto('secret_key').values({ key_id: vault.id }).execute()
      await db
        .insertInto('data_key')
        .values({ owner: OPERATOR, wrapped: vault.newDataKey(OPERATOR) })
        .execute()
    })
  }
  const next = readNextKey(engine.dir) && (await settle(engine, random))
  if (next) return next
  const id = await engine.look(() => value(secretKeyId))
  if (id !== vault.id) {
    throw new Error(
      'the secret key is not the one that this installation was made with (it has the id ' +
        `${vault.id}, the database names ${id}): restore keys/secret-key from your own copy, ` +
        'or set QUARTERMASTER_SECRET_KEY to the right one',
    )
  }
  return vault
}

/**
 * Ends a rotation that was cut off; its vault, if the database knows it. One that is under way
 * holds the writer from before its key is laid down until it is committed, so nothing here takes
 * the key away from under it.
 */
async function settle(engine: Engine, random: Random): Promise<Vault | null> {
  return engine.atomic({ db: engine.db, read: engine.read }, async ({ db }) => {
    const key = readNextKey(engine.dir)
    const vault = key && openVault(key, random)
    const { key_id: known } = await db
      .selectFrom('secret_key')
      .select('key_id')
      .executeTakeFirstOrThrow()
    const isKnown = vault?.id === known
    settleNextKey(engine.dir, isKnown)
    return isKnown ? vault : null
  })
}

/**
 * Replaces the secret key of a folder that keeps it in its own file, and wraps every data key anew;
 * what they sealed stays as it is. No server may run meanwhile. A rotation that is cut off is
 * finished or undone by the next start.
 */
export async function rotateSecretKey(
  ctx: AccountsCtx,
): Promise<{ key_id: string; data_keys: number }> {
  const { engine, random } = ctx
  if (!engine.lock('serve'))
    throw new Error(`a server runs on ${engine.dir}; stop it before the secret key is rotated`)
  const old = openVault(loadSecretKey(engine.dir, { fresh: false, random }), random)
  if (old.id !== ctx.secrets.keyId)
    throw new Error(
      'the secret key is not the one of keys/secret-key: it was given by whoever opened the ' +
        'folder, and is theirs to replace',
    )
  const key = random(32)
  const vault = openVault(key, random)
  const dataKeys = await engine.atomic(ctx, async (tx) => {
    writeNextKey(engine.dir, key)
    const rows = await tx.db.selectFrom('data_key').selectAll().execute()
    for (const { owner, wrapped } of rows) {
      await tx.db
        .updateTable('data_key')
        .set({ wrapped: old.rewrap(wrapped, owner, vault) })
        .where('owner', '=', owner)
        .execute()
    }
    await tx.db.updateTable('secret_key').set({ key_id: vault.id }).execute()
    await audit(tx, 'secrets.rotate', { from: old.id, to: vault.id })
    await touch(tx.db, 'keys')
    return rows.length
  })
  settleNextKey(engine.dir, true)
  ctx.secrets.replaceKey(vault)
  return { key_id: vault.id, data_keys: dataKeys }
}
