/** One send of one purchase order, and what is written down of it. */
import type { OrderSession } from '../../../distributors/fulfillment.js'
import { loginsOf } from '../../../distributors/session/logins.js'
import { openSession } from '../../../distributors/session/open-session.js'
import { Transcript } from '../../../distributors/session/transcript.js'
import { keepTranscript, sealTranscript } from '../../transcripts.js'
import type { Moved, StoredPo } from '../../stored.js'
import { afterSend, givenBack, notSent, otherAccount } from '../rules/after-send.js'
import { SEND_TIMEOUT } from '../rules/timing.js'
import { submissionOf } from './answers.js'
import { callInTime } from './call.js'
import type { SenderCtx } from './ctx.js'
import { whyTooLate } from './fence.js'
import { openOrder } from './open-order.js'
import { record } from './record.js'

export interface Sent {
  /** How it was written down; null when somebody else has moved it meanwhile. */
  moved: Moved | null
  /** Resolves when the connector's call has ended, which may be long after it was given up. */
  ended: Promise<void>
}

/** Sends an order whose state is `sending` on the disk, and writes down what came back. */
export async function sendOrder(ctx: SenderCtx, order: StoredPo): Promise<Sent> {
  const opened = await openOrder(ctx, order)
  if (typeof opened === 'string') return recordNotSent(ctx, order, opened)
  // Who logs in as somebody else finds, and dedups against, nothing of what was sent before: it
  // would be bought twice.
  const otherLogin = otherAccount(order, opened.account)
  if (otherLogin !== null) return recordNotSent(ctx, order, otherLogin)

  let current = order
  const stage: Pick<OrderSession, 'stage' | 'keepStage'> = {
    stage: order.stage,
    async keepStage(stage) {
      current = await recordStage(ctx, order, { current, stage })
      await ctx.flushJournal()
      await ctx.step('stage kept')
    },
  }
  const { connector, content, distributor, settings, secrets } = opened
  const transcript = new Transcript(ctx.now, secrets)
  const login = loginsOf(ctx, order)
  await ctx.step('before the send')
  ctx.refuseFailed()
  const tooLate = whyTooLate(ctx)
  if (tooLate !== null) {
    const back = await record(ctx, order, givenBack(order, tooLate, ctx.now()))
    return { moved: back, ended: Promise.resolve() }
  }
  /** Why something that was about to leave did not. */
  let held: string | null = null
  const refusal = () => {
    const why = whyTooLate(ctx)
    held ??= why
    return why
  }
  const { answer, ended } = await callInTime(
    ctx,
    connector.limits.sendTimeout ?? SEND_TIMEOUT,
    (signal) => {
      const session = openSession(distributor, {
        settings,
        signal,
        now: ctx.now,
        transcript,
        login,
        egress: ctx.egress,
        refusal,
      })
      return connector.submit({ ...session, ...stage }, content)
    },
  )
  const sent = submissionOf(answer, transcript)
  const said = sealTranscript(ctx, order, 'send', transcript)
  await ctx.step('after the send')
  // The distributor has not refused anything: whoever leads sends it at once.
  const change =
    held !== null && sent.outcome === 'not_sent'
      ? givenBack(current, held, ctx.now())
      : afterSend(current, sent, connector, ctx.now())
  const recorded = await record(ctx, current, change, (tx) => keepTranscript(tx, said))
  if (!recorded)
    ctx.log.error(
      { ref: order.client_ref, distid: order.distid, sent },
      'a distributor answered about an order that somebody has moved on meanwhile',
    )
  return { moved: recorded, ended }
}

async function recordNotSent(ctx: SenderCtx, order: StoredPo, reason: string): Promise<Sent> {
  return {
    moved: await record(ctx, order, notSent(order, { reason }, ctx.now())),
    ended: Promise.resolve(),
  }
}

/** `order` is as it was when the send began, `current` as it is now. */
async function recordStage(
  ctx: SenderCtx,
  order: StoredPo,
  { current, stage }: { current: StoredPo; stage: string },
): Promise<StoredPo> {
  // The first may be on its way to becoming the order: whether it is gone is found out by looking,
  // not by a send.
  if (order.ever_unknown === 1 && order.stage !== null && stage !== order.stage)
    throw new Error(`it was begun as ${order.stage}, and the distributor was made to begin it anew`)
  const kept = await record(ctx, current, { to: 'sending', stage })
  if (!kept) throw new Error('the order was moved on by somebody else')
  return kept.order
}
