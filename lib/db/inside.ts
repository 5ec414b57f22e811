/** Keeps the outer handle of a database out of its own transaction, where it would wait for itself. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  KyselyPlugin,
  PluginTransformQueryArgs,
  QueryResult,
  RootOperationNode,
  UnknownRow,
} from 'kysely'

/**
 * Set while the code of an `atomic` runs, so that the outer handle can refuse instead of waiting
 * for itself for ever.
 */
const inside = new AsyncLocalStorage<object>()
/** Transactions under way, of all apps of this process. */
let running = 0

/** Refuses statements of the handle that it belongs to within the transaction of its owner. */
export class NotInsideAtomic implements KyselyPlugin {
  readonly #owner: object
  constructor(owner: object) {
    this.#owner = owner
  }
  transformQuery(args: PluginTransformQueryArgs): RootOperationNode {
    if (inside.getStore() === this.#owner)
      throw new Error(
        'inside atomic, use the context that it passes: the outer db would wait for itself',
      )
    return args.node
  }
  async transformResult(args: {
    result: QueryResult<UnknownRow>
  }): Promise<QueryResult<UnknownRow>> {
    return args.result
  }
}

/** Runs a transaction of the owner, which marks its code as inside by `enter`. */
export async function runAtomic<R>(
  owner: object,
  transaction: (enter: <T>(code: () => Promise<T>) => Promise<T>) => Promise<R>,
): Promise<R> {
  if (inside.getStore() === owner)
    throw new Error('this is already inside atomic: pass its context on')
  running++
  try {
    return await transaction((code) => inside.run(owner, code))
  } finally {
    // Left on, it would cost every promise of the process a hook.
    if (--running === 0) inside.disable()
  }
}
