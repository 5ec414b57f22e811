/** What a command says of itself where it is one operation: the operation's own words. */
import type * as z from 'zod'
import { present } from '../../lib/core/present.js'

/** What of an operation's definition is needed: those of one domain, so that no other is loaded. */
interface Described {
  readonly id: string
  readonly summary: string
  readonly input: z.ZodObject
}

export interface OperationWords {
  summary: string
  /** By the names of options: `allow_private` is `--allow-private`. */
  help: Record<string, string>
}

export function wordsOf(operations: readonly Described[], id: string): OperationWords {
  const { summary, input } = present(
    operations.find((one) => one.id === id),
    id,
  )
  const help = Object.fromEntries(
    Object.entries(input.shape).flatMap(([name, shape]) => {
      const { description } = shape as z.ZodType
      return description === undefined ? [] : [[name.replaceAll('_', '-'), description]]
    }),
  )
  return { summary, help }
}
