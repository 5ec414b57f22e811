/** What an operator is told, and who else. */
import { tellTest } from '../../../lib/events/events.js'
import { addMail, addWebhook, removeReceiver } from '../../../lib/events/receivers.js'
import type { ListedDelivery, ListedEvent } from '../../../lib/events/events.js'
import { times } from '../../../lib/core/figures.js'
import { UsageError, argument, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { egressFromEnvironment } from '../../env.js'
import { perform, withApp } from '../with-app.js'
import { carriesOut } from '../operation-help.js'
import { eventOperations } from '../../../lib/events/operations.js'

async function list({ dir, values, out }: Invocation): Promise<void> {
  const limit = optional(values, 'limit') ?? '100'
  if (!/^\d+$/.test(limit)) throw new UsageError('--limit must be a whole number from 1 to 1,000')
  await withApp(dir, async (app) => {
    const events = await app.operator.events.list({ limit: Number(limit) })
    for (const event of events) out.line(linesOf(event))
    if (events.length === 0) out.line('Nothing was told yet.')
    out.result({ events })
  })
}

/** A line for the event, one for what to do about it, and one for each receiver. */
function linesOf({ at, message, mend, state, deliveries }: ListedEvent): string {
  return [
    `${at}  ${message}`,
    ...(mend === null || state === 'ended' ? [] : [`    ${mend}`]),
    ...deliveries.map((one) => `    ${one.receiver}: ${stateOf(one)}`),
  ].join('\n')
}

function stateOf({ state, attempts, fault, next_at: next }: ListedDelivery): string {
  if (state === 'delivered') return 'delivered'
  if (attempts === 0) return 'waits to be sent'
  const tried = `${times(attempts, 'attempt')}, ${fault ?? 'no answer'}`
  return state === 'given_up' ? `given up after ${tried}` : `${tried}; again at ${next}`
}

async function receivers({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    // Whether mail can be sent is the server's to say: its environment is not that of this command.
    const found = (await app.operator.events.receivers()).map(({ fault: _, ...one }) => one)
    out.table(found.map((one) => ({ ...one })))
    out.result({ receivers: found })
  })
}

async function addUrl({ dir, args, values, out, dryRun }: Invocation): Promise<void> {
  const url = argument(args, 0)
  const allowPrivate = values['allow-private'] === true
  await withApp(dir, async (app) => {
    const made = await perform(app, dryRun, (ctx) => addWebhook(ctx, { url, allowPrivate }))
    if (dryRun) out.line(`${made.address} would be told of events.`)
    else
      out.line(
        `${made.id}: ${made.address} is told of events from now on, while the server runs.\n` +
          `Its messages are signed with this secret. This is the only time that it is shown:\n\n` +
          `  ${made.secret}\n`,
      )
    out.result(dryRun ? { address: made.address, dry_run: true } : made)
  })
}

async function addAddress({ dir, args, out, dryRun }: Invocation): Promise<void> {
  const address = argument(args, 0)
  await withApp(dir, async (app) => {
    const made = await perform(app, dryRun, (ctx) => addMail(ctx, { address }))
    out.line(
      dryRun
        ? `${made.address} would be told of events.`
        : `${made.id}: ${made.address} gets mail of events from now on, while the server runs.`,
    )
    if (egressFromEnvironment().egress?.mail === undefined)
      out.line(
        'Note: there is no QUARTERMASTER_MAIL_SERVER here. The server needs it to send mail.',
      )
    out.result(dryRun ? { address: made.address, dry_run: true } : made)
  })
}

async function remove({ dir, args, out, dryRun }: Invocation): Promise<void> {
  const id = argument(args, 0)
  await withApp(dir, async (app) => {
    const removed = await perform(app, dryRun, (ctx) => removeReceiver(ctx, id))
    out.line(
      `${removed.address} ${dryRun ? 'would be' : 'is'} told of events no more` +
        `${removed.waiting > 0 ? `; ${removed.waiting} that waited for it are dropped` : ''}.`,
    )
    out.result({ id: removed.id, address: removed.address, dry_run: dryRun })
  })
}

async function test({ dir, out, dryRun }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    const { id } = await perform(app, dryRun, tellTest)
    const to = (await app.operator.events.receivers()).length
    out.line(
      dryRun
        ? `A test event would be told to ${times(to, 'receiver')}.`
        : `A running server tells ${times(to, 'receiver')} within a second; \`events list\` shows what came of it.`,
    )
    out.result({ ...(!dryRun && { id }), receivers: to, dry_run: dryRun })
  })
}

export const eventCommands: Command[] = [
  carriesOut(eventOperations, 'events.list', {
    name: 'events list',
    effect: 'reads',
    options: { limit: { type: 'string' } },
    adds: { limit: 'the newest first' },
    example: 'quartermaster events list',
    run: list,
  }),
  carriesOut(eventOperations, 'events.receivers', {
    name: 'events receivers',
    effect: 'reads',
    example: 'quartermaster events receivers',
    run: receivers,
  }),
  carriesOut(eventOperations, 'events.addWebhook', {
    name: 'events webhook add',
    effect: 'writes',
    positionals: ['<URL>'],
    options: { 'allow-private': { type: 'boolean' } },
    example: 'quartermaster events webhook add https://alerts.example/quartermaster',
    run: addUrl,
  }),
  carriesOut(eventOperations, 'events.addMail', {
    name: 'events mail add',
    effect: 'writes',
    positionals: ['<ADDRESS>'],
    example: 'quartermaster events mail add owner@shop.example',
    run: addAddress,
  }),
  carriesOut(eventOperations, 'events.remove', {
    name: 'events remove',
    effect: 'writes',
    positionals: ['<RECEIVER>'],
    members: { '<RECEIVER>': 'id' },
    example: 'quartermaster events remove mail-5f0c1d2e',
    run: remove,
  }),
  carriesOut(eventOperations, 'events.test', {
    name: 'events test',
    effect: 'writes',
    example: 'quartermaster events test',
    run: test,
  }),
]
