/**
 * What placing an order would do, told without doing it: nothing is sent, and nothing written but
 * the check's own line.
 */
import { keyById } from '../../accounts/keys.js'
import type { Subscriber } from '../../accounts/caller.js'
import { checkPart, refuseFaults } from '../../core/endpoint/endpoint.js'
import type { OrdersCall, SendingCtx } from '../ctx.js'
import { ApiError, isApiError } from '../../core/errors.js'
import type { ErrorCode, Fault } from '../../core/errors.js'
import { checkTexts } from '../../core/json.js'
import { toDollars } from '../../core/money.js'
import type { Mode } from '../../db/tables/column-types.js'
import { connectorOf } from '../../distributors/modes.js'
import type { Destination, PurchaseOrder, Rendered } from '../../distributors/fulfillment.js'
import type { CheckResult } from '../../restrictions/shapes.js'
import { askAboutDealer } from './ask-dealer.js'
import { checkOrder } from './check-order.js'
import type { CheckedGroup, CheckedOrder } from './check-order.js'
import { earlierPlacements } from './holder.js'
import { nextId } from '../rows.js'
import { contentOf, posOf } from './intent.js'
import { partsOf } from './split.js'
import { quotaLeft, refuseOverQuota } from '../quota.js'
import { refuseDuplicate, refuseFullDisk, refusePaused } from './refusals.js'
import { PlaceBody } from '../shapes.js'
import { present } from '../../core/present.js'

/** One fulfillment order to be. Amounts are dollars. */
export interface PreflightGroup {
  distid: string
  distributor: string
  ffl_required: boolean
  ship_to: Destination
  /** The dealer that receives it; `expires_on` is the last day of its license. */
  ffl: { license_number: string; name: string; expires_on: string } | null
  lines: {
    distsku: string
    upc: string
    name: string
    qty: number
    unit_price: number
    line_total: number
    ffl_required: boolean
  }[]
  product_subtotal: number
  shipping_estimate: number
  /** As it was given or made. */
  po_given: string
  /**
   * As its distributor would get it: shortened where it does not fit, and with `-2` after a
   * placement that was refused.
   */
  po_number: string
  /** Where that is asked for: what its distributor says of the dealer; null where it cannot be asked. */
  dealer?: { takes: boolean | null; on_file: boolean | null; reason: string } | null
  /** What it is sent as: several where the distributor does not take all of it in one. */
  purchase_orders: {
    lane: string
    distskus: string[]
    /** Where that is asked for: what would be sent; null where the connector cannot tell. */
    wire?: Rendered[] | null
  }[]
}

/** Code, status, message and details of the answer that placing would give. */
export interface Refusal {
  code: ErrorCode
  status: number
  message: string
  details: unknown
}

export interface Preflight {
  order_id: string | null
  /** Null: the order would be taken in and sent. */
  refusal: Refusal | null
  /** Nobody holds the order_id; null where it is none. */
  order_id_free: boolean | null
  /** 2 after a placement that was refused. */
  attempt: number | null
  mode: Mode | null
  ship_to_store: boolean | null
  /** Empty where the refusal comes before the split. */
  fulfillment_orders: PreflightGroup[]
  product_subtotal: number
  shipping_estimate: number
  total_estimate: number
  /** What the rules say of the items; null where the refusal comes before them. */
  restrictions: CheckResult | null
  /** For a person to look at before the order is placed. */
  warnings: string[]
  /** Orders that the key may still place within the hour and the day; null without a key. */
  quota: { hour: number; day: number } | null
}

export interface PreflightOptions {
  /** Tells what would be sent, byte for byte. */
  wire?: boolean
  /** Asks distributors about the dealers that they would ship to. */
  ask?: boolean
}

/**
 * As `preflightOrder`, for an operator: with a key's tag in the PO and its quotas, or with none.
 */
export async function preflightFor(
  ctx: SendingCtx,
  subscriber: Subscriber,
  body: unknown,
  { keyId, ...options }: { keyId?: string } & PreflightOptions = {},
): Promise<Preflight> {
  return preflightOrder(
    { ...ctx, subscriber, key: keyId === undefined ? null : await keyById(ctx, subscriber, keyId) },
    body,
    options,
  )
}

/**
 * Tells what `placeOrder` would do with a body, and the refusal that it would answer with. Throws
 * only where we fail.
 */
export async function preflightOrder(
  ctx: OrdersCall,
  body: unknown,
  { wire = false, ask = false }: PreflightOptions = {},
): Promise<Preflight> {
  const nothing = nothingOf(ctx.key ? await quotaLeft(ctx, ctx.key.id) : null)
  const shape = await attempted(async () => {
    if (ctx.key && ctx.key.status !== 'enabled')
      throw new ApiError(ctx.key.status === 'disabled' ? 'key_disabled' : 'key_cancelled')
    return bodyOf(body)
  })
  if ('refusal' in shape) return { ...nothing, refusal: shape.refusal }
  const order = shape.result
  const { isHeld, attempt } = await earlierPlacements(ctx, order.order_id)
  // In the order in which placing comes to them.
  const held = await attempted(() => refuseDuplicate(ctx, order))
  const checked = await attempted(() => loggedCheck(ctx, order))
  // What a distributor without a simulator would be sent is looked at before it goes live.
  const shown =
    wire && 'refusal' in checked
      ? await attempted(() => loggedCheck(asIfLive(ctx), order))
      : checked
  const plan =
    'refusal' in shown
      ? null
      : planOf(ctx, shown.result, {
          attempt,
          serial: wire ? await nextId(ctx, 'purchase_order') : null,
        })
  if (ask && plan && 'result' in checked)
    await askDealers(ctx, checked.result, plan.fulfillment_orders)
  const engine = await attempted(() => refusedByEngine(ctx))
  const refusal =
    [held, checked, engine].find((step): step is { refusal: Refusal } => 'refusal' in step)
      ?.refusal ?? null
  const restrictions = restrictionsOf(checked)
  return {
    ...nothing,
    ...plan,
    order_id: order.order_id,
    order_id_free: !isHeld,
    attempt,
    ship_to_store: order.ship_to_store,
    restrictions,
    warnings: restrictions ? warningsOf(order, restrictions) : [],
    refusal,
  }
}

async function loggedCheck(ctx: OrdersCall, body: PlaceBody): Promise<CheckedOrder> {
  const checked = await checkOrder(ctx, body)
  await checked.logged
  return checked
}

/** With those live that nobody plays. */
function asIfLive(ctx: OrdersCall): OrdersCall {
  const { distributors, modes } = ctx
  return {
    ...ctx,
    modes: {
      service: modes.service,
      of: (distid) =>
        connectorOf({ distributors }, distid, 'simulator') ? modes.of(distid) : 'live',
    },
  }
}

/** What is told of a body that is not an order. */
function nothingOf(quota: Preflight['quota']): Preflight {
  return {
    order_id: null,
    refusal: null,
    order_id_free: null,
    attempt: null,
    mode: null,
    ship_to_store: null,
    fulfillment_orders: [],
    product_subtotal: 0,
    shipping_estimate: 0,
    total_estimate: 0,
    restrictions: null,
    warnings: [],
    quota,
  }
}

/** What the rules say; null where the order was refused before they were asked. */
function restrictionsOf(
  checked: { result: CheckedOrder } | { refusal: Refusal },
): CheckResult | null {
  if ('result' in checked) return checked.result.restrictions
  const { code, details } = checked.refusal
  return code === 'restricted_destination' ? (details as CheckResult) : null
}

function bodyOf(body: unknown): PlaceBody {
  const faults: Fault[] = []
  checkTexts(body, faults)
  const checked = checkPart(PlaceBody, body, faults)
  refuseFaults(faults)
  return checked
}

async function attempted<T>(step: () => Promise<T>): Promise<{ result: T } | { refusal: Refusal }> {
  try {
    return { result: await step() }
  } catch (error) {
    if (!isApiError(error)) throw error
    const { code, status, message, details = null } = error
    return { refusal: { code, status, message, details } }
  }
}

/** What refuses an order that is right in itself. */
async function refusedByEngine(ctx: OrdersCall): Promise<void> {
  refuseFullDisk(ctx)
  await refusePaused(ctx)
  if (ctx.key) await refuseOverQuota(ctx, ctx.orders.counts, ctx.key.id)
}

interface Planned {
  /** 2 after a placement that was refused. */
  attempt: number
  /** Of the next purchase order, where what would be sent is asked for. */
  serial: number | null
}

function planOf(
  ctx: OrdersCall,
  order: CheckedOrder,
  at: Planned,
): Pick<
  Preflight,
  'mode' | 'fulfillment_orders' | 'product_subtotal' | 'shipping_estimate' | 'total_estimate'
> {
  const sum = (of: (group: CheckedGroup) => number) =>
    order.groups.reduce((cents, group) => cents + of(group), 0)
  const [products, shipping] = [sum(productsOf), sum(({ shippingEstimate }) => shippingEstimate)]
  return {
    mode: order.mode,
    fulfillment_orders: order.groups.map((group, groupNo) =>
      groupOf(ctx, order, group, { ...at, groupNo }),
    ),
    product_subtotal: toDollars(products),
    shipping_estimate: toDollars(shipping),
    total_estimate: toDollars(products + shipping),
  }
}

const productsOf = ({ lines }: Pick<CheckedGroup, 'lines'>) =>
  lines.reduce((cents, { qty, unitPrice }) => cents + qty * unitPrice, 0)

function groupOf(
  ctx: OrdersCall,
  order: CheckedOrder,
  group: CheckedGroup,
  at: Planned & { groupNo: number },
): PreflightGroup {
  const { given, po } = posOf(ctx, order, group, at)
  const { distid, distributor, fflRequired, shipTo, ffl, lines, shippingEstimate } = group
  return {
    distid,
    distributor,
    ffl_required: fflRequired,
    ship_to: shipTo,
    ffl: ffl && { license_number: ffl.licenseNumber, name: ffl.name, expires_on: ffl.expiresOn },
    lines: lines.map(({ distsku, upc, name, qty, unitPrice, fflRequired: toDealer }) => ({
      distsku,
      upc,
      name,
      qty,
      unit_price: toDollars(unitPrice),
      line_total: toDollars(qty * unitPrice),
      ffl_required: toDealer,
    })),
    product_subtotal: toDollars(productsOf(group)),
    shipping_estimate: toDollars(shippingEstimate),
    po_given: given,
    po_number: po,
    purchase_orders: partsOf(group).map((part, i, parts) => ({
      lane: part.name,
      distskus: part.lines.map((at) => present(lines[at], `line ${at}`).distsku),
      ...(at.serial !== null && {
        wire: renderedOf(
          ctx,
          group,
          contentOf(order, { ...group, parts }, part, {
            clientRef: UNMADE,
            serial: at.serial + i,
            po,
            poGiven: given,
            takenAt: ctx.now(),
          }),
        ),
      }),
    })),
  }
}

async function askDealers(
  ctx: OrdersCall,
  order: CheckedOrder,
  told: readonly PreflightGroup[],
): Promise<void> {
  for (const [i, group] of order.groups.entries()) {
    if (group.ffl === null) continue
    const parts = partsOf(group)
    const own = present(told[i], `group ${i}`)
    const { po_number: po, po_given: poGiven } = own
    const content = contentOf(order, { ...group, parts }, present(parts[0], 'a purchase order'), {
      clientRef: UNMADE,
      serial: 1,
      po,
      poGiven,
      takenAt: ctx.now(),
    })
    const answer = await askAboutDealer(ctx, group, content)
    own.dealer = answer && {
      takes: answer.takes,
      on_file: answer.onFile,
      reason: answer.reason,
    }
  }
}

/** A reference is drawn at random once an order is taken in; what stands for it is as long. */
const UNMADE = 'REFERENCE00000000000'

/** What would be sent of a purchase order, with its secrets masked. */
function renderedOf(
  { distributors }: OrdersCall,
  { connector, distid, settings }: CheckedGroup,
  content: PurchaseOrder,
): Rendered[] | null {
  const declared = distributors.byDistid(distid)?.settings ?? {}
  const masked = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      declared[name]?.secret ? '[credential]' : value,
    ]),
  )
  const speaker = connector.inLane?.(content.lane) ?? connector
  try {
    return speaker.preview?.(content, masked) ?? null
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [{ what: `nothing: ${reason}`, headers: {}, body: '' }]
  }
}

/**
 * A placement is refused for what blocks; what the rules leave to a person is said here and nowhere
 * else.
 */
function warningsOf({ items }: PlaceBody, { items: judged }: CheckResult): string[] {
  return judged.flatMap(({ blocking_rules: blocking, manual_review: held, warnings }, i) => {
    const { distid, distsku } = present(items[i], `item ${i}`)
    const item = `items[${i}] (${distid} ${distsku})`
    return [
      ...blocking.map(({ rule_id: rule, reason }) => `${item}: ${rule} blocks it: ${reason}`),
      ...held.map(({ rule_id: rule, reason }) => `${item}: hold for a person: ${rule} ${reason}`),
      ...warnings.map(
        ({ rule_id: rule, customer_message: message }) => `${item}: ${rule}: ${message}`,
      ),
    ]
  })
}
