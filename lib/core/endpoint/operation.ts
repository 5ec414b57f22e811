/**
 * One definition per operation of the operator. The console's calls, the operator's API with its
 * document, and what the command line says of a command come from it.
 */
import * as z from 'zod'
import type { ErrorCode, Fault } from '../errors.js'
import { invalid } from '../errors.js'
import type { Examined } from '../finding.js'
import { checkTexts, withNewlines } from '../json.js'
import { checkPart, refuseFaults } from './endpoint.js'

/** A file that was sent to the server, for an operation that takes one in. */
export interface UploadedFile {
  /** Where it lies. */
  path: string
  /** What it was called where it came from. */
  name: string
}

export interface ExamineOptions {
  /** Nobody outside of this machine is asked. */
  offline: boolean
  /** A copy of the order journal is kept, and compared. */
  hasJournalCopy: boolean
  signal: AbortSignal
}

/** What an operation gets beside its input. */
export interface Work {
  /** Done, of how many in all, and a count of what was met. */
  onProgress(done: number, total: number, count: number): void
  /** Throws 400 for one that is not there, or no longer. */
  upload(id: string): UploadedFile
  /** Runs the doctor beside the server; rejects with 400 where no server runs the operation. */
  examine(options: ExamineOptions): Promise<Examined>
}

export interface OperationDefinition<C, I extends z.ZodRawShape, R extends z.ZodType> {
  /** As the command line has it: what the operation does, without a full stop. */
  summary: string
  /** Longer text for the document. */
  description?: string
  /**
   * As a summary, of each part of it that is a command of its own: by the value or the member that
   * makes it.
   */
  parts?: Readonly<Record<string, string>>
  /** What `reads` may be run by somebody who only looks. */
  effect: 'reads' | 'writes'
  /** It costs money or takes a protection away: the console asks for the password again. */
  asksAgain?: boolean
  /** It may take minutes: it is started, and told of until it ends. */
  isLong?: boolean
  /** The members of its input. */
  input: I
  result: R
  /** Refusals beside those that every operation has. */
  errors?: readonly ErrorCode[]
  /** `ctx` is what the functions of its domain get. */
  run(ctx: C, input: z.output<z.ZodObject<I>>, work: Work): Promise<z.input<R>>
}

export interface Operation<
  Id extends string = string,
  C = never,
  I extends z.ZodRawShape = z.ZodRawShape,
  R extends z.ZodType = z.ZodType,
> extends Omit<OperationDefinition<C, I, R>, 'input'> {
  /** `<domain>.<function>`, as in `app.operator`. */
  id: Id
  input: z.ZodObject<I>
}

/** An operation of any shapes, for code that treats all of them alike. */
export type AnyOperation<C = never> = Operation<string, C>

/** How a domain defines its operations: `const operation = operationsOf<FflsCtx>()`. */
export function operationsOf<C>() {
  return <const Id extends string, I extends z.ZodRawShape, R extends z.ZodType>(
    id: Id,
    definition: OperationDefinition<C, I, R>,
  ): Operation<Id, C, I, R> => ({ ...definition, id, input: z.strictObject(definition.input) })
}

/** What a caller passes for an operation, and what it gets. */
export type OperationInput<O> =
  O extends Operation<string, infer _C, infer I, z.ZodType> ? z.input<z.ZodObject<I>> : never
export type OperationResult<O> =
  O extends Operation<string, infer _C, infer _I, infer R> ? z.output<R> : never

/** The input, checked; all faults are one 400. */
export function checkOperationInput<O extends AnyOperation>(
  { input: shape }: O,
  given: unknown,
): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid('input', 'must be an object with the members of the operation')
  const faults: Fault[] = []
  const input = withNewlines(given)
  checkTexts(input, faults)
  const checked = checkPart(shape, input, faults)
  refuseFaults(faults)
  return checked
}
