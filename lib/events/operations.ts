/** The operator's operations on events. */
import * as z from 'zod'
import { operationsOf } from '../core/endpoint/operation.js'
import { Time, limitOf } from '../core/endpoint/operation-shapes.js'
import type { DbCtx } from '../db/ctx.js'
import { listEvents } from './events.js'

const operation = operationsOf<DbCtx>()

export const eventOperations = [
  operation('events.list', {
    summary: 'What you should hear of, such as licenses of dealers that end soon',
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
] as const
