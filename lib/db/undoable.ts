/** Acts of one transaction, which can be tried: every check is the real one, and nothing stays. */
import * as z from 'zod'
import type { Operation, OperationDefinition } from '../core/endpoint/operation.js'
import { DryRun } from '../core/endpoint/operation-shapes.js'
import { present } from '../core/present.js'
import type { DbCtx } from './ctx.js'

/** Acts in a transaction that is undone. */
export async function actAndUndo<C extends DbCtx, T>(
  ctx: C,
  act: (ctx: C) => Promise<T>,
): Promise<T> {
  let done: { result: T } | undefined
  try {
    await ctx.engine.atomic(ctx, async (tx) => {
      done = { result: await act(tx) }
      throw UNDONE
    })
  } catch (error) {
    if (error !== UNDONE) throw error
  }
  return present(done, 'what the dry run did').result
}

const UNDONE = new Error('a dry run is undone')

/** As `operationsOf`, for acts of one transaction: `dry_run` joins the members of their input. */
export function undoableOf<C extends DbCtx>() {
  return <const Id extends string, I extends z.ZodRawShape, R extends z.ZodType>(
    id: Id,
    { input, run, ...definition }: OperationDefinition<C, I, R>,
  ): Operation<Id, C, I & { dry_run: typeof DryRun }, R> => ({
    ...definition,
    id,
    effect: 'writes',
    input: z.strictObject({ ...input, dry_run: DryRun }),
    run(ctx, given, work) {
      const { dry_run: isTrial, ...own } = given as { dry_run: boolean }
      const act = (acting: C) => run(acting, own as z.output<z.ZodObject<I>>, work)
      return isTrial ? actAndUndo(ctx, act) : act(ctx)
    },
  })
}
