/** Who is told of events: programs by a signed message, people by mail. */
import { audit } from '../accounts/audit.js'
import { ApiError, invalid } from '../core/errors.js'
import { OPERATOR } from '../core/storage/secrets.js'
import type { ReceiverKind } from '../db/tables/events.js'
import type { DistributorsCtx } from '../distributors/ctx.js'
import type { OpenReceiver } from './receiver.js'
import { NO_MAIL_SERVER } from './mail.js'
import { readWebhook } from './webhook.js'

export interface Receiver {
  id: string
  kind: ReceiverKind
  /** Where it is, without what may be a secret in it. */
  address: string
  created_at: string
  /** Events that wait for it. */
  waiting: number
  /** Why nothing can reach it as things are set; null where something can. */
  fault: string | null
}

/** More would make one event a flood. */
const MOST = 20
const ID_BYTES = 4
const SECRET_BYTES = 24

export interface WebhookInput {
  url: string
  /** Lets it be in this machine or its own network, and be asked without TLS. */
  allowPrivate?: boolean
}

/**
 * Adds a program that is told of every event from now on. Its secret, by which it knows that a
 * message is ours, is shown here alone. Throws 400 for an address that is none.
 */
export async function addWebhook(
  ctx: DistributorsCtx,
  { url, allowPrivate = false }: WebhookInput,
): Promise<{ id: string; address: string; secret: string }> {
  const fault = readWebhook(url, allowPrivate)
  if (fault !== null) throw invalid('url', fault)
  const secret = `whsec_${ctx.random(SECRET_BYTES).toString('base64url')}`
  return { ...(await add(ctx, { kind: 'webhook', address: url, secret, allowPrivate })), secret }
}

/** Adds a person who gets mail of every event from now on. Throws 400 for what is no address. */
export async function addMail(
  ctx: DistributorsCtx,
  { address }: { address: string },
): Promise<{ id: string; address: string }> {
  if (!/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(address) || address.length > 254)
    throw invalid('address', `"${address.slice(0, 100)}" is not an address of mail`)
  return add(ctx, { kind: 'mail', address, secret: null, allowPrivate: false })
}

async function add(
  ctx: DistributorsCtx,
  { kind, address, secret, allowPrivate }: Omit<OpenReceiver, 'id'>,
): Promise<{ id: string; address: string }> {
  const id = `${kind}-${ctx.random(ID_BYTES).toString('hex')}`
  const shown = shownAddress(kind, address)
  await ctx.engine.atomic(ctx, async (tx) => {
    const all = await openReceivers(tx)
    if (all.some((one) => one.kind === kind && one.address === address))
      throw invalid(kind === 'mail' ? 'address' : 'url', `${shown} is told of events already`)
    if (all.length >= MOST)
      throw invalid('receivers', `there are ${MOST} already, the most; remove one first`)
    const sealer = tx.secrets.of(OPERATOR)
    await tx.db
      .insertInto('event_receiver')
      .values({
        id,
        kind,
        address: sealer.seal(address, addressPlace(id)),
        secret: secret === null ? null : sealer.seal(secret, secretPlace(id)),
        allow_private: allowPrivate ? 1 : 0,
        created_at: tx.now(),
      })
      .execute()
    await audit(tx, 'events.add', { id, address: shown, allow_private: allowPrivate })
  })
  return { id, address: shown }
}

/** Tells it no more; what waits for it is dropped. Throws 404 for one that there is not. */
export async function removeReceiver(ctx: DistributorsCtx, id: string): Promise<Receiver> {
  const found = (await listReceivers(ctx)).find((one) => one.id === id || one.address === id)
  if (!found)
    throw new ApiError('not_found', {
      message: `there is no receiver ${id}; \`events receivers\` lists them`,
    })
  await ctx.engine.atomic(ctx, async (tx) => {
    await tx.db.deleteFrom('event_receiver').where('id', '=', found.id).execute()
    await audit(tx, 'events.remove', { id: found.id, address: found.address })
  })
  return found
}

export async function listReceivers(ctx: DistributorsCtx): Promise<Receiver[]> {
  const rows = await ctx.read
    .selectFrom('event_receiver')
    .select((row) => [
      'id',
      'created_at',
      row
        .selectFrom('event_delivery')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('receiver_id', '=', 'event_receiver.id')
        .where('event_delivery.state', '=', 'waiting')
        .as('waiting'),
    ])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const open = new Map((await openReceivers(ctx)).map((one) => [one.id, one]))
  return rows.flatMap(({ id, created_at: at, waiting }) => {
    const one = open.get(id)
    if (!one) return []
    const { kind, address } = one
    return {
      id,
      kind,
      address: shownAddress(kind, address),
      created_at: new Date(at).toISOString(),
      waiting: waiting ?? 0,
      fault: kind === 'mail' && !ctx.egress.mail ? NO_MAIL_SERVER : null,
    }
  })
}

/** All receivers with their secrets. */
export async function openReceivers(
  ctx: Pick<DistributorsCtx, 'read' | 'secrets'>,
): Promise<OpenReceiver[]> {
  const rows = await ctx.read.selectFrom('event_receiver').selectAll().execute()
  const sealer = ctx.secrets.of(OPERATOR)
  return rows.map(({ id, kind, address, secret, allow_private: allow }) => ({
    id,
    kind,
    address: sealer.open(address, addressPlace(id)),
    secret: secret === null ? null : sealer.open(secret, secretPlace(id)),
    allowPrivate: allow === 1,
  }))
}

const addressPlace = (id: string) => `address of receiver ${id}`
const secretPlace = (id: string) => `secret of receiver ${id}`

/** User, password, path and query of a URL may each be a key to it. */
function shownAddress(kind: ReceiverKind, address: string): string {
  if (kind === 'mail') return address
  const { origin, pathname, search } = new URL(address)
  return pathname === '/' && search === '' ? origin : `${origin}/…`
}
