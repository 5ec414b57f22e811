/** The operator's operation on the log of the server. */
import * as z from 'zod'
import { operationsOf } from '../../core/endpoint/operation.js'
import { Time, limitOf } from '../../core/endpoint/operation-shapes.js'
import type { OperationCtx } from './ctx.js'

const operation = operationsOf<OperationCtx>()

const LEVELS = ['debug', 'info', 'warn', 'error'] as const
type Level = (typeof LEVELS)[number]
/** As they stand in a line. */
const NUMBERS: Readonly<Record<Level, number>> = { debug: 20, info: 30, warn: 40, error: 50 }

export const logOperations = [
  operation('log.list', {
    summary: 'The newest lines of the log, the newest first',
    description:
      'Of the process that answers, since its start, at most 1,000. What it logs at all is said ' +
      'with QUARTERMASTER_LOG; a log that is kept by another library has none.',
    effect: 'reads',
    input: {
      level: z.enum(LEVELS).default('debug').describe('this level and those above it'),
      contains: z.string().max(200).optional().describe('a text that stands in the line'),
      limit: limitOf(1_000, 200),
    },
    result: z.array(
      z.object({
        time: Time,
        level: z.enum(LEVELS),
        message: z.string(),
        fields: z.record(z.string(), z.unknown()).describe('What else stands in the line'),
      }),
    ),
    run: async ({ log }, { level, contains = '', limit }) => {
      const wanted = contains.toLowerCase()
      const found: Line[] = []
      for (const text of (log.recent?.() ?? []).toReversed()) {
        if (!text.toLowerCase().includes(wanted)) continue
        const line = lineOf(text)
        if (NUMBERS[line.level] >= NUMBERS[level] && found.push(line) === limit) break
      }
      return found
    },
  }),
] as const

interface Line {
  time: string
  level: Level
  message: string
  fields: Record<string, unknown>
}

function lineOf(text: string): Line {
  const { level, time, msg, ...fields } = JSON.parse(text) as {
    level: number
    time: string
    msg?: string
  } & Record<string, unknown>
  return {
    time,
    // What is worse than an error is one.
    level: LEVELS.findLast((one) => NUMBERS[one] <= level) ?? 'debug',
    message: msg ?? '',
    fields,
  }
}
