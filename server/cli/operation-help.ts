/** What a command says of itself where it is one operation: the operation's own words. */
import type * as z from 'zod'
import { allOperations } from '../../lib/app/operations/index.js'
import type { OperationId } from '../../lib/app/operations/index.js'
import { present } from '../../lib/core/present.js'

const operationOf = (id: OperationId) =>
  present(
    allOperations.find((one) => one.id === id),
    id,
  )

export const summaryOf = (id: OperationId): string => operationOf(id).summary

/** By the names of options: `allow_private` is `--allow-private`. */
export function helpOf(id: OperationId): Record<string, string> {
  return Object.fromEntries(
    Object.entries(operationOf(id).input.shape).flatMap(([name, shape]) => {
      const { description } = shape as z.ZodType
      return description === undefined ? [] : [[name.replaceAll('_', '-'), description]]
    }),
  )
}
