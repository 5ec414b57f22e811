/**
 * Binds what domains do for the operator to one app: the context comes by itself, and a closing app
 * waits for what has begun.
 */
import type { Subscriber } from '../accounts/caller.js'
import { findSubscriber } from '../accounts/subscribers.js'
import type { Background } from '../core/async/background.js'
import type { UnderWay } from '../core/async/under-way.js'
import type { OperatorCtx } from './ctx.js'
import type { Tasks } from './background/tasks.js'

/** What functions of the operator are bound to. */
export interface Bound {
  ctx: OperatorCtx
  background: Background<Tasks>
  underWay: UnderWay
}

/** Binds functions that take the operator's context first. */
export function bind<
  F extends Record<string, (ctx: OperatorCtx, ...args: never[]) => Promise<unknown>>,
>({ ctx, underWay }: Bound, functions: F) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (...args: never[]) => underWay.run(() => fn(ctx, ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (ctx: OperatorCtx, ...args: infer A) => infer R
      ? (...args: A) => R
      : never
  }
}

/** As `bind`, for functions that also need the worker. */
export function bindWorker<
  F extends Record<
    string,
    (ctx: OperatorCtx, background: Background<Tasks>, ...args: never[]) => Promise<unknown>
  >,
>({ ctx, background, underWay }: Bound, functions: F) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (...args: never[]) => underWay.run(() => fn(ctx, background, ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (
      ctx: OperatorCtx,
      background: Background<Tasks>,
      ...args: infer A
    ) => infer R
      ? (...args: A) => R
      : never
  }
}

/** As `bind`, for functions of one subscriber, which callers name by name or id. */
export function forSubscriber<
  F extends Record<
    string,
    (ctx: OperatorCtx, subscriber: Subscriber, ...args: never[]) => Promise<unknown>
  >,
>({ ctx, underWay }: Bound, functions: F) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (subscriber: string, ...args: never[]) =>
        underWay.run(async () => fn(ctx, await findSubscriber(ctx, subscriber), ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (
      ctx: OperatorCtx,
      subscriber: Subscriber,
      ...args: infer A
    ) => infer R
      ? (subscriber: string, ...args: A) => R
      : never
  }
}
