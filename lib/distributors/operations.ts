/** The operator's operations on distributors. */
import * as z from 'zod'
import { Distid } from '../core/endpoint/operation-shapes.js'
import { undoableOf } from '../db/undoable.js'
import type { DistributorsCtx } from './ctx.js'
import { setMode } from './modes.js'

const undoable = undoableOf<DistributorsCtx>()

const Mode = z.enum(['simulator', 'live'])

export const distributorOperations = [
  undoable('distributors.setMode', {
    summary: "Place orders with a distributor's simulator from now on, as on a fresh installation",
    effect: 'writes',
    input: {
      distid: Distid,
      // Going live asks about every shop's credentials first.
      mode: z.literal('simulator').default('simulator'),
      reason: z.string().nullable().default(null).describe('why; kept in the audit'),
    },
    result: z.object({ distid: z.string(), mode: Mode, before: Mode }),
    run: setMode,
  }),
] as const
