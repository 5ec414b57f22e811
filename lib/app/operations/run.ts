/** Runs an operation: input checked, in the name of somebody, for real or to be undone. */
import { checkOperationInput } from '../../core/endpoint/operation.js'
import type { Work } from '../../core/endpoint/operation.js'
import { invalid } from '../../core/errors.js'
import type { OperationCtx } from './ctx.js'
import { allOperations } from './index.js'

export interface OperateOptions extends Partial<Work> {
  /** Who acts, for the audit; whoever opened the app by default. */
  actor?: string
}

const byId = new Map(allOperations.map((one) => [one.id, one]))

/** Rejects with 400 for an operation that there is not, and with what the operation refuses. */
export async function runOperation(
  ctx: OperationCtx,
  id: string,
  input: unknown,
  {
    actor = ctx.actor,
    onProgress = () => {},
    upload = () => {
      throw invalid('upload', 'there is no such file')
    },
    examine = () =>
      Promise.reject(invalid('operation', 'only a server has a doctor; the command has one, too')),
  }: OperateOptions = {},
): Promise<unknown> {
  const operation = byId.get(id)
  if (!operation) throw invalid('operation', `there is no operation "${id}"`)
  const checked = checkOperationInput(operation, input)
  return operation.run({ ...ctx, actor }, checked as never, { onProgress, upload, examine })
}
