/** A connector of each recovery class over a world, as a careful author would write it. */
import type {
  FoundOrder,
  Fulfillment,
  OrderSession,
  PurchaseOrder,
  PurchaseOrderLine,
  Search,
  Submission,
} from '../../lib/distributors/fulfillment.js'
import { NotSent } from './world.js'
import type { Execution, Nature, World } from './world.js'

type Line = { distsku: string; qty: number }

/** What one distributor has besides its orders. */
interface Desk {
  world: World
  nature: Nature
}

interface Stage {
  id: string
  account: string
  order: PurchaseOrder
  lines: Line[]
  number: string | null
  openedAt: number
}

interface Cart {
  id: string
  account: string
  note: string
  order: PurchaseOrder | null
  lines: Line[]
  number: string | null
}

export function connectorFor(world: World, nature: Nature): Fulfillment {
  const desk: Desk = { world, nature }
  const submit = nature.isCart
    ? cartSubmit(desk)
    : nature.recovery === 'staged'
      ? stagedSubmit(desk)
      : { submit: wholeSubmit(desk), open: () => [] }
  return {
    recovery: nature.recovery,
    limits: nature.limits,
    ...(nature.recovery === 'file' && { plan: lanesBySku }),
    async submit(session, order) {
      world.sent(nature, order, session)
      world.drawStranger(nature, accountOf(session), order)
      const answer = await submit.submit(session, order).catch((error: unknown): Submission => {
        if (error instanceof NotSent)
          return {
            outcome: 'not_sent',
            reason: error.message,
            ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
          }
        throw error
      })
      if (answer?.outcome === 'not_sent') world.witness.notSent(order.clientRef)
      return answer
    },
    ...(nature.hasFind && {
      find: (session: OrderSession, order: PurchaseOrder) =>
        find(desk, session, order, submit.open),
    }),
  }
}

const accountOf = ({ settings }: OrderSession) => String(settings.account)

/** One file holds one kind of thing. */
function lanesBySku(lines: readonly PurchaseOrderLine[]) {
  return [...new Set(lines.map(({ distsku }) => distsku))].map((sku) => ({
    name: sku,
    lines: lines.flatMap((line, i) => (line.distsku === sku ? [i] : [])),
  }))
}

/** Numbers that are none. */
const GARBAGE: readonly unknown[] = [
  undefined,
  null,
  {},
  { outcome: 'accepted' },
  { outcome: 'accepted', number: 7 },
  { outcome: 'accepted', number: '' },
  '<html>',
]

function wholeSubmit({
  world,
  nature,
}: Desk): (session: OrderSession, order: PurchaseOrder) => Promise<Submission> {
  const garbage =
    nature.recovery === 'file' ? GARBAGE : [...GARBAGE, { outcome: 'accepted', number: null }]
  return (session, order) =>
    world.call<Submission>(session, { name: 'order', isLast: true, garbage }, () => {
      const account = accountOf(session)
      const refusal = world.refuses(order)
      const had =
        nature.recovery === 'resend'
          ? world.executions.find(
              ({ distid, account: of, clientRef }) =>
                distid === nature.distid && of === account && clientRef === order.clientRef,
            )
          : undefined
      if (refusal !== null && (!had || nature.validatesFirst))
        return { outcome: 'rejected', reason: refusal }
      // It takes another order for this one: the answer alone proves nothing.
      const other =
        nature.recovery === 'resend' && !had && world.faultRate > 0 && world.rng.chance(0.03)
          ? world.executions.findLast(({ distid }) => distid === nature.distid)
          : undefined
      if (other) return { outcome: 'duplicate', number: other.number }
      if (had) return { outcome: 'duplicate', number: world.rng.chance(0.5) ? had.number : null }
      const { number } = world.execute(nature, account, world.nextNumber(nature.distid), order)
      return { outcome: 'accepted', number: nature.recovery === 'file' ? null : number }
    })
}

/** A header that gets a number, lines, and a last call that alone has an effect. */
function stagedSubmit({ world, nature }: Desk) {
  const stages = new Map<string, Stage>()
  // One that nobody goes on with is thrown away after an hour.
  const live = (id: string | null) =>
    [...stages.values()].find(
      (stage) =>
        stage.id === id &&
        (stage.number !== null || world.time.steady - stage.openedAt < 3_600_000),
    )
  return {
    async submit(session: OrderSession, order: PurchaseOrder): Promise<Submission> {
      const account = accountOf(session)
      const known =
        session.stage === null
          ? undefined
          : await world.call(session, { name: 'status' }, () => live(session.stage))
      if (known && known.order.clientRef === order.clientRef && known.number !== null)
        return { outcome: 'accepted', number: known.number }
      let stage = known
      if (!stage) {
        stage = await world.call(session, { name: 'header' }, () => {
          const opened: Stage = {
            id: world.nextNumber('S'),
            account,
            order,
            lines: [],
            number: null,
            openedAt: world.time.steady,
          }
          stages.set(opened.id, opened)
          return opened
        })
        if (!stage?.id) throw new Error('no header')
        await session.keepStage(stage.id)
      }
      const mine = stage
      for (const line of order.lines.slice(mine.lines.length))
        await world.call(session, { name: 'line' }, () => void mine.lines.push(line))
      return world.call<Submission>(
        session,
        { name: 'submission', isLast: true, garbage: GARBAGE },
        () => {
          if (mine.number !== null) return { outcome: 'accepted', number: mine.number }
          if (!live(mine.id)) return { outcome: 'rejected', reason: 'no such order' }
          const refusal = world.refuses(order)
          if (refusal !== null) return { outcome: 'rejected', reason: refusal }
          mine.number = world.execute(nature, account, mine.id, {
            ...order,
            lines: mine.lines,
          }).number
          return { outcome: 'accepted', number: mine.number }
        },
      )
    },
    open(session: OrderSession, order: PurchaseOrder): FoundOrder[] {
      return [...stages.values()]
        .filter(
          (stage) =>
            stage.number === null &&
            live(stage.id) &&
            (stage.id === session.stage ||
              (nature.tells.ref && stage.order.clientRef === order.clientRef)),
        )
        .map((stage) => ({
          number: stage.id,
          po: stage.order.po,
          clientRef: stage.order.clientRef,
          lines: stage.lines,
          submitted: false,
        }))
    },
  }
}

/** The one cart of an account, which the last call turns into an order. */
function cartSubmit({ world, nature }: Desk) {
  const carts: Cart[] = []
  const find = (id: string | null) => carts.find((cart) => cart.id === id)
  return {
    async submit(session: OrderSession, order: PurchaseOrder): Promise<Submission> {
      const account = accountOf(session)
      const before =
        session.stage === null
          ? undefined
          : await world.call(session, { name: 'status' }, () => find(session.stage))
      if (before && before.note === order.clientRef && before.number !== null)
        return { outcome: 'accepted', number: before.number }
      const cart = await world.call(session, { name: 'cart' }, () => {
        let open = carts.find(({ account: of, number }) => of === account && number === null)
        if (!open)
          carts.push(
            (open = {
              id: world.nextNumber('C'),
              account,
              note: '',
              order: null,
              lines: [],
              number: null,
            }),
          )
        return open
      })
      if (!cart?.id) throw new Error('no cart')
      const change = (name: string, how: () => void) =>
        world.call(session, { name }, () => {
          if (cart.number === null) how()
        })
      await change('emptying', () => Object.assign(cart, { lines: [], note: '', order: null }))
      for (const line of order.lines)
        await change('line', () => {
          cart.lines = [...cart.lines, line]
        })
      await change('address', () => Object.assign(cart, { note: order.clientRef, order }))
      await session.keepStage(cart.id)
      // Its server reads the cart when the call arrives, however late it makes an order of it.
      const then = { ...cart }
      return world.call<Submission>(
        session,
        { name: 'checkout', isLast: true, garbage: GARBAGE },
        () => checkOut({ world, nature }, cart, nature.isCareless ? then : cart, order),
      )
    },
    open(session: OrderSession, order: PurchaseOrder): FoundOrder[] {
      const cart = find(session.stage)
      if (!cart || cart.number !== null || cart.note !== order.clientRef) return []
      return [
        { number: null, po: order.po, clientRef: cart.note, lines: cart.lines, submitted: false },
      ]
    },
  }
}

function checkOut(
  { world, nature }: Desk,
  cart: Cart,
  { note, order: content, lines }: Cart,
  order: PurchaseOrder,
): Submission {
  if (cart.number !== null && cart.note === order.clientRef)
    return { outcome: 'accepted', number: cart.number }
  if (cart.number !== null || content === null)
    return { outcome: 'not_sent', reason: 'there is no such cart' }
  if (
    !nature.isCareless &&
    (note !== order.clientRef || unitsText(lines) !== unitsText(order.lines))
  )
    return { outcome: 'not_sent', reason: 'the cart holds another order' }
  const refusal = world.refuses(order)
  if (refusal !== null) return { outcome: 'rejected', reason: refusal }
  const { number } = world.execute(nature, cart.account, world.nextNumber(nature.distid), {
    ...content,
    lines,
  })
  Object.assign(cart, { note, order: content, lines, number })
  return { outcome: 'accepted', number: number! }
}

const unitsText = (lines: readonly Line[]) =>
  JSON.stringify(lines.map(({ distsku, qty }) => [distsku, qty]))

/**
 * Orders under our reference or PO, as far as they are visible and as this distributor tells of
 * them.
 */
function find(
  { world, nature }: Desk,
  session: OrderSession,
  order: PurchaseOrder,
  open: (session: OrderSession, order: PurchaseOrder) => FoundOrder[],
): Promise<Search> {
  return world.ask<Search>(session, () => {
    if (world.isBlind(order.clientRef)) {
      world.witness.trace(() => `  search for ${order.clientRef}: blind`)
      return { outcome: 'answered', orders: [] }
    }
    const account = accountOf(session)
    const now = world.time.outside()
    const visible = world.executions.filter(
      (execution) =>
        execution.distid === nature.distid &&
        execution.account === account &&
        execution.visibleAt <= now &&
        ((nature.tells.ref && execution.clientRef === order.clientRef) ||
          echo(nature, execution.po) === echo(nature, order.po)),
    )
    for (const { shownTo, clientRef } of visible)
      if (shownTo && nature.tells.content && clientRef === order.clientRef)
        world.witness.misshown(clientRef)
    const strangers = world.strangers.filter(
      ({ distid, account: of, po }) =>
        distid === nature.distid && of === account && echo(nature, po) === echo(nature, order.po),
    )
    const orders = [
      ...visible.map((execution) => shown(nature, execution)),
      ...strangers.map((stranger) => strangersOrder(nature, stranger)),
    ]
    if (orders.length > 0 && world.rng.chance(0.1)) orders.push(orders[0]!)
    world.witness.trace(
      () => `  search for ${order.clientRef}: ${orders.map(({ number }) => number).join(', ')}`,
    )
    return { outcome: 'answered', orders: [...orders, ...open(session, order)] }
  })
}

/** As it is shown: it bears no reference of ours. */
function strangersOrder(nature: Nature, stranger: Execution): FoundOrder {
  const { clientRef: _, ...rest } = shown(nature, stranger)
  return rest
}

function shown(
  { tells }: Nature,
  {
    number,
    po,
    clientRef,
    lines,
    shipTo: { name, address1, zip },
    shownTo = { name, address1, zip },
    at,
  }: Execution & { po: string },
): FoundOrder {
  return {
    number: tells.number ? number : null,
    po: echo({ tells }, po),
    ...(tells.ref && { clientRef: clientRef.toLowerCase() }),
    ...(tells.content && {
      lines,
      shipTo: {
        name: shownTo.name.toUpperCase(),
        address1: ` ${shownTo.address1}`,
        zip: shownTo.zip,
      },
    }),
    ...(tells.placedAt && {
      placedAt: tells.placedAt === 'day' ? Math.floor(at / 86_400_000) * 86_400_000 : at,
    }),
  }
}

export function echo({ tells }: Pick<Nature, 'tells'>, po: string): string {
  return tells.po === 'same'
    ? po
    : tells.po === 'upper'
      ? ` ${po.toUpperCase()} `
      : po.slice(0, 14).toUpperCase()
}
