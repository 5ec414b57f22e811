/** The operator's operations on events. */
import * as z from 'zod'
import { operationsOf } from '../core/endpoint/operation.js'
import { Time, limitOf } from '../core/endpoint/operation-shapes.js'
import type { DistributorsCtx } from '../distributors/ctx.js'
import { listEvents, tellTest } from './events.js'
import { addMail, addWebhook, listReceivers, removeReceiver } from './receivers.js'

const Receiver = z
  .object({
    id: z.string(),
    kind: z.enum(['webhook', 'mail']),
    address: z.string().describe('Without what may be a secret in it'),
    created_at: Time,
    waiting: z.int().describe('Events that wait for it'),
    fault: z.string().nullable().describe('Why nothing can reach it as things are set'),
  })
  .meta({ component: 'EventReceiver', about: 'Who is told of events' })

const operation = operationsOf<DistributorsCtx>()

export const eventOperations = [
  operation('events.list', {
    summary:
      'What you should hear of: alarms, their end, licenses that end soon; and whom it reached',
    effect: 'reads',
    input: { limit: limitOf(1_000, 100) },
    result: z.array(
      z.object({
        kind: z.string(),
        subject: z.string(),
        message: z.string(),
        at: Time,
        id: z.string().describe('By which a receiver knows one that it gets twice'),
        state: z.enum(['told', 'raised', 'ended']),
        severity: z.enum(['info', 'warn', 'bad']),
        mend: z.string().nullable().describe('A command that mends it, or shows what to decide'),
        deliveries: z.array(
          z.object({
            receiver: z.string(),
            state: z.enum(['waiting', 'delivered', 'given_up']),
            attempts: z.int(),
            next_at: Time.nullable(),
            fault: z.string().nullable(),
          }),
        ),
      }),
    ),
    run: listEvents,
  }),
  operation('events.receivers', {
    summary: 'Who is told of events beside the log, and how many wait for each',
    effect: 'reads',
    input: {},
    result: z.array(Receiver),
    run: (ctx) => listReceivers(ctx),
  }),
  operation('events.addWebhook', {
    summary: 'Have a program told of events by signed messages, and show its secret once',
    effect: 'writes',
    asksAgain: true,
    input: {
      url: z.string().min(1).describe('where messages are posted; https, or http on this machine'),
      allow_private: z
        .boolean()
        .default(false)
        .describe('it may be in a private network, and without TLS'),
    },
    result: z.object({
      id: z.string(),
      address: z.string(),
      secret: z.string().describe('By which it knows that a message is ours; told once'),
    }),
    run: (ctx, { url, allow_private: allowPrivate }) => addWebhook(ctx, { url, allowPrivate }),
  }),
  operation('events.addMail', {
    summary: 'Have a person told of events by mail, through QUARTERMASTER_MAIL_SERVER',
    effect: 'writes',
    asksAgain: true,
    input: { address: z.string().min(3).describe('e-mail address') },
    result: z.object({ id: z.string(), address: z.string() }),
    run: addMail,
  }),
  operation('events.remove', {
    summary: 'Tell a receiver of events no more',
    effect: 'writes',
    input: {
      id: z.string().min(1).describe('its id or its address; `events receivers` shows both'),
    },
    result: Receiver,
    errors: ['not_found'],
    run: (ctx, { id }) => removeReceiver(ctx, id),
  }),
  operation('events.test', {
    summary: 'Tell every receiver of a test event',
    effect: 'writes',
    input: {},
    result: z.object({ id: z.string() }),
    run: (ctx) => tellTest(ctx),
  }),
] as const
