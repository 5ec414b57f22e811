/** Bugs that the harness must find: each a change of the source, text for text. */

export interface Planted {
  name: string
  /** File, what stands there, and what takes its place; each must stand there exactly once. */
  patches: [file: string, find: string, replace: string][]
}

const ORDERS = 'lib/orders'
const FULFILLMENT = 'lib/fulfillment'

const SENDING: Planted[] = [
  {
    name: 'send, then record: a send begins without a word on the disk',
    patches: [
      [`${ORDERS}/place.ts`, 'isSentNow: isSender && ctx.orders.tryTake(group.account, group.connector)', 'isSentNow: false'],
      [`${ORDERS}/work.ts`, "return write(order, { to: 'sending'", "if (order) return order\n    return write(order, { to: 'sending'"],
    ],
  },
  { name: 'blind resend on restart', patches: [[`${ORDERS}/recover.ts`, 'afterDeath(order, tx.now())', "{ to: 'planned', owner: null, next_at: tx.now(), planned_at: tx.now(), first_sent_at: null }"]] },
  { name: 'blind resend of an unknown, lookup', patches: [[`${ORDERS}/outcome.ts`, "case 'lookup': return provenAbsent(order, connector, at)", "case 'lookup': return { resend: true }"]] },
  { name: 'blind resend of an unknown, one_shot', patches: [[`${ORDERS}/outcome.ts`, "case 'file': case 'one_shot': return waitOn(order, at.now)", "case 'file': return waitOn(order, at.now)\n    case 'one_shot': return { resend: true }"]] },
  { name: 'blind resend of an unknown, file', patches: [[`${ORDERS}/outcome.ts`, "case 'file': case 'one_shot': return waitOn(order, at.now)", "case 'one_shot': return waitOn(order, at.now)\n    case 'file': return { resend: true }"]] },
  { name: 'blind resend where nobody can be asked', patches: [[`${ORDERS}/outcome.ts`, "if (!connector.find && connector.recovery === 'resend' && order.refusal === null)", 'if (!connector.find)']] },
  { name: 'blind resend of a staged order whose stage is gone', patches: [[`${ORDERS}/outcome.ts`, '!refused && (order.stage === null || hasOpenStage)', '!refused']] },
  { name: 'the journal is not flushed before the first send', patches: [[`${ORDERS}/place.ts`, "  try {\n    await ctx.orders.flush()\n  } catch (error) {", '  try {\n    await Promise.resolve()\n  } catch (error) {']] },
  { name: 'the journal is not flushed before a later send', patches: [[`${ORDERS}/work.ts`, 'if (claimed) await tools().flush()', '']] },
  { name: 'the reference is made anew at each send', patches: [[`${ORDERS}/send.ts`, 'line.connector.submit({ ...session, signal }, line.content)', "line.connector.submit({ ...session, signal }, order.sends === 1 ? line.content : { ...line.content, clientRef: `${line.content.clientRef.slice(0, 19)}${order.sends % 10}` })"]] },
  { name: 'the content is made anew at each send', patches: [[`${ORDERS}/send.ts`, 'line.connector.submit({ ...session, signal }, line.content)', 'line.connector.submit({ ...session, signal }, order.sends === 1 ? line.content : { ...line.content, lines: line.content.lines.map((each) => ({ ...each, qty: each.qty + 1 })) })']] },
  { name: 'a stage is not kept', patches: [[`${ORDERS}/send.ts`, "const kept = await record(tools, current, { to: 'sending', stage })", 'const kept: StoredPo | null = { ...current, stage }']] },
  {
    name: 'a stage is kept after the call that has the effect',
    patches: [
      [`${ORDERS}/send.ts`, "const kept = await record(tools, current, { to: 'sending', stage })", 'const kept: StoredPo | null = { ...current, stage }'],
      [`${ORDERS}/send.ts`, 'record(tools, current, afterSend(current, sent, line.connector, ctx.now()))', 'record(tools, order, { ...afterSend(current, sent, line.connector, ctx.now()), stage: current.stage })'],
    ],
  },
  {
    name: 'a cart is not exclusive',
    patches: [
      [`${ORDERS}/sender.ts`, 'limits.concurrency ?? CONCURRENCY', 'CONCURRENCY'],
      [`${ORDERS}/work.ts`, 'connectorOf(ctx, order.distid, order.mode)?.limits.concurrency ?? CONCURRENCY', 'CONCURRENCY'],
    ],
  },
  { name: 'a cart is free again although its call still runs', patches: [[`${ORDERS}/work.ts`, 'if (isAlone && ended) void firstOf(', 'if (isAlone && ended && account === \'\') void firstOf(']] },
]

const OUTCOMES: Planted[] = [
  { name: 'a refusal after an unknown counts as one', patches: [[`${ORDERS}/outcome.ts`, 'if (wasUnknown) return { ...unknown(order, `refused', 'if (wasUnknown && now < 0) return { ...unknown(order, `refused']] },
  { name: 'not sent after an unknown: planned again', patches: [[`${ORDERS}/outcome.ts`, "  if (order.ever_unknown === 1) return { to: 'unknown', ...common, next_at: next }\n", '']] },
  { name: 'a timeout or a broken connection counts as not sent', patches: [[`${ORDERS}/send.ts`, "? { outcome: 'unknown' as const, reason: answer.failed }", "? { outcome: 'not_sent' as const, reason: answer.failed }"]] },
  { name: 'a timeout or a broken connection counts as a refusal', patches: [[`${ORDERS}/send.ts`, "? { outcome: 'unknown' as const, reason: answer.failed }", "? { outcome: 'rejected' as const, reason: answer.failed }"]] },
  { name: 'an answer that is none counts as a refusal', patches: [[`${ORDERS}/send.ts`, "return { outcome: 'unknown', reason: 'the connector gave no outcome' }", "return { outcome: 'rejected', reason: 'the connector gave no outcome' }"]] },
  { name: 'accepted without a number counts as placed', patches: [[`${ORDERS}/outcome.ts`, "if (sent.number === null && connector.recovery !== 'file')", 'if (now < 0)']] },
  { name: 'a duplicate counts as accepted without a look', patches: [[`${ORDERS}/outcome.ts`, "case 'duplicate':\n", "case 'duplicate':\n      if (sent.number !== null) return { to: 'placed', distributor_order_id: sent.number, reason: null, refusal: null, next_at: null, owner: null, failures: 0 }\n"]] },
  { name: 'no time to settle', patches: [[`${ORDERS}/outcome.ts`, '  if (at.unknownFor < settle) return { change: { to: \'unknown\', failures: 0, next_at: at.now + settle - at.unknownFor } }\n', '']] },
  { name: 'the time to settle is the wall clock\'s alone', patches: [[`${ORDERS}/work.ts`, 'Math.max(0, Math.min(ctx.now() - (order.unknown_since ?? order.updated_at), ctx.monotonic() - unknownSince.get(order.id)!))', 'Math.max(0, ctx.now() - (order.unknown_since ?? order.updated_at))']] },
  { name: 'one look instead of two', patches: [[`${ORDERS}/outcome.ts`, 'const LOOKS = 2', 'const LOOKS = 1']] },
  { name: 'who cannot be asked has no order', patches: [[`${ORDERS}/reconcile.ts`, "  if (search.outcome === 'unreachable') return withoutSearch(order, connector, `the distributor cannot be asked: ${search.reason}`, ctx.now())\n  return afterSearch(order, { ...await findings(ctx, order, line, search.orders, blind !== null)", "  return afterSearch(order, { ...await findings(ctx, order, line, search.outcome === 'unreachable' ? [] : search.orders, blind !== null)"]] },
  { name: 'a PO alone is proof', patches: [[`${FULFILLMENT}/match.ts`, "if (isAlike) return isElsewhere ? 'unclear' : 'ours'", "if (po !== 'other') return 'ours'"]] },
  { name: 'what is unclear is somebody else\'s', patches: [[`${ORDERS}/reconcile.ts`, 'unclear: sorted.unclear', 'unclear: []']] },
  { name: 'a clock that was a day ahead makes our own order an earlier one', patches: [[`${FULFILLMENT}/match.ts`, 'const LONG_BEFORE = 3 * DAY', 'const LONG_BEFORE = DAY']] },
  { name: 'numbers of other orders are not looked at', patches: [[`${FULFILLMENT}/numbers.ts`, '.executeTakeFirst() !== undefined', '.executeTakeFirst() === null']] },
  { name: 'what was sent once expires', patches: [[`${ORDERS}/work.ts`, "if (order.state === 'unknown') return", "if (order.state === 'unknown' && ctx.now() - order.planned_at < EXPIRES) return"], [`${ORDERS}/work.ts`, 'return sentAt === null && now - plannedAt', 'return now - plannedAt']] },
]

const GUARDS: Planted[] = [
  {
    name: 'who logs in as somebody else goes on where the other was',
    patches: [
      [`${ORDERS}/reconcile.ts`, 'const blind = order.account !== null && order.account !== line.account ? OTHER_ACCOUNT : null', 'const blind = null'],
      [`${ORDERS}/send.ts`, 'order.account !== null && order.account !== line.account ? OTHER_ACCOUNT : null', 'null'],
    ],
  },
  { name: 'what another login shows is taken by its looks', patches: [[`${FULFILLMENT}/match.ts`, "return isElsewhere ? 'unclear' : 'ours'", "return 'ours'"]] },
  { name: 'a login that changes while a distributor is asked is not seen before the send', patches: [[`${ORDERS}/send.ts`, 'order.account !== null && order.account !== line.account ? OTHER_ACCOUNT : null', 'null']] },
  { name: 'a dealer that moved is not seen', patches: [[`${ORDERS}/line.ts`, 'if (!shipToStore && !isPremise(dealer!, shipTo)) return', "if (!shipToStore && shipTo.zip === '' && !isPremise(dealer!, shipTo)) return"]] },
  { name: 'other orders to which a file\'s order may belong are not looked at', patches: [[`${ORDERS}/reconcile.ts`, 'twins.some((twin) => mayBe(twin, candidate))', 'twins.length < 0']] },
  { name: 'of such orders only those that are placed are looked at', patches: [[`${ORDERS}/reconcile.ts`, "state IN ('placed', 'sending', 'unknown', 'review') AND distributor_order_id IS NULL", "state = 'placed' AND distributor_order_id IS NULL"]] },
  { name: 'our reference is ours wherever it goes', patches: [[`${FULFILLMENT}/match.ts`, "isTaken || differs || lines === 'part' ? 'conflict' : 'ours'", "isTaken || lines === 'other' || lines === 'part' ? 'conflict' : 'ours'"]] },
  { name: 'a number is looked for among the orders of its subscriber alone', patches: [[`${FULFILLMENT}/numbers.ts`, "...account === null ? [] : [or('account', '=', account)]", '']] },
]

const BOOKS: Planted[] = [
  { name: 'the sender\'s place is taken over from a live one', patches: [[`${ORDERS}/seat.ts`, "if (!engine.lock('engine')) return false", "engine.lock('engine')"]] },
  { name: 'what a dead sender left is not taken over', patches: [[`${ORDERS}/recover.ts`, 'await move(tx, order, afterDeath(order, tx.now()))', '']] },
  { name: 'a fault of ours leaves an order in sending', patches: [[`${ORDERS}/work.ts`, 'if (!tools().ctx.engine.hasFailed() && !tools().signal.aborted) note(await write(order, afterDeath(order, tools().ctx.now())))', '']] },
  { name: 'a change is written over somebody else\'s', patches: [[`${ORDERS}/transitions.ts`, ".where('state', '=', order.state).where('sends', '=', order.sends)", '']] },
  {
    name: 'no unique holder of an order_id, and no look for one in the transaction',
    patches: [['lib/db/migrations/quartermaster.ts', 'CREATE UNIQUE INDEX placement_holder ON', 'CREATE INDEX placement_holder ON'], [`${ORDERS}/intent.ts`, 'if (isHeld) throw new OrderIdHeld()', '']],
  },
  { name: 'an order_id is free while an outcome is not known', patches: [[`${ORDERS}/transitions.ts`, 'if (FAILED.includes(order.state)) await closePlacement', "if ([...FAILED, 'unknown'].includes(order.state)) await closePlacement"], [`${ORDERS}/transitions.ts`, "  if (!orders.every(({ state }) => FAILED.includes(state))) return\n", "  if (!orders.every(({ state }) => [...FAILED, 'unknown'].includes(state))) return\n"]] },
  { name: 'an order_id is never free again', patches: [[`${ORDERS}/transitions.ts`, '.set({ holds_id: 0, was_refused: refused ? 1 : 0 })', '.set({ was_refused: refused ? 1 : 0 })']] },
  { name: 'a second attempt has the first one\'s PO', patches: [[`${ORDERS}/po-number.ts`, 'return attempt === 1 ? po : `${po}-${attempt}`', 'return po']] },
  { name: 'the quota is checked outside the transaction', patches: [[`${ORDERS}/intent.ts`, '  return ctx.engine.atomic(ctx, async (tx) => {\n    const { order, digest } = input\n', '  if (ctx.key) await ctx.engine.atomic(ctx, (tx) => checkQuota(tx, input.counts, ctx.key!.id))\n  return ctx.engine.atomic(ctx, async (tx) => {\n    const { order, digest } = input\n'], [`${ORDERS}/intent.ts`, '    if (ctx.key) await checkQuota(tx, input.counts, ctx.key.id)\n', '']] },
  { name: 'a placement of which nobody was asked counts', patches: [[`${ORDERS}/transitions.ts`, ".every(({ first_sent_at: sent }) => sent === null)) await", ".every(({ first_sent_at: sent }) => sent === undefined)) await"]] },
  { name: 'a failure is not listed', patches: [[`${ORDERS}/transitions.ts`, 'if (FAILED.includes(order.state) && !FAILED.includes(before)) {', "if (order.state === 'rejected' && !FAILED.includes(before)) {"]] },
  { name: 'an answer says placed of what is not known', patches: [[`${ORDERS}/place.ts`, 'states.some(({ state }) => OPEN.includes(state))', "states.some(({ state }) => state === 'sending')"]] },
  { name: 'a change is not in the journal', patches: [[`${ORDERS}/transitions.ts`, "  await appendJournal(tx, 'state'", "  if (to !== 'unknown') await appendJournal(tx, 'state'"]] },
  { name: 'the journal\'s file is not cut at its last whole line', patches: [[`${ORDERS}/journal-file.ts`, 'if (size < (await file.stat()).size) await file.truncate(size)', "size = (await file.stat()).size"]] },
  { name: 'lines that a dead process left are not synced', patches: [[`${ORDERS}/journal-file.ts`, '  await file.datasync()\n  return {', '  return {']] },
  { name: 'the end of the journal is noted before it is synced', patches: [[`${ORDERS}/journal-file.ts`, '        await file.datasync()\n', '']] },
]

export const PLANTED: readonly Planted[] = [...SENDING, ...OUTCOMES, ...GUARDS, ...BOOKS]
