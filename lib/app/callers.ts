/** From a key, or a name of a subscriber, to the context of a call. */
import type { Key, Subscriber } from '../accounts/caller.js'
import { keyIndex } from '../accounts/keys.js'
import { findSubscriber } from '../accounts/subscribers.js'
import { ApiError } from '../core/errors.js'
import { query } from '../db/query.js'
import { all } from '../db/reading.js'
import type { Ctx, OperatorCtx } from './ctx.js'

export class Callers {
  /** The key of this text, whatever its status; undefined for an unknown one. */
  readonly findKey: (key: string) => Key | undefined
  /** Whether an enabled key may be used from this address. */
  readonly mayCallFrom: (address: string) => boolean
  readonly #ctx: OperatorCtx
  readonly #subscribers: (id: string) => Subscriber
  readonly #contexts = new WeakMap<Key, Ctx>()

  constructor(ctx: OperatorCtx) {
    this.#ctx = ctx
    const { find, lets } = keyIndex(ctx.engine)
    this.findKey = find
    this.mayCallFrom = lets
    this.#subscribers = subscriberIndex(ctx)
  }

  /** The context of a call with this key. */
  contextFor(key: Key): Ctx {
    let made = this.#contexts.get(key)
    if (!made) {
      made = { ...this.#ctx, subscriber: this.#subscribers(key.subscriberId), key }
      this.#contexts.set(key, made)
    }
    return made
  }

  /** The context of a call of the library. Throws for who may not call. */
  async contextOf(caller: string | { key: string }): Promise<Ctx> {
    if (typeof caller === 'string')
      return { ...this.#ctx, subscriber: await findSubscriber(this.#ctx, caller), key: null }
    let key = this.findKey(caller.key)
    if (key?.status !== 'enabled') {
      await this.#ctx.engine.catchUp('keys')
      key = this.findKey(caller.key)
    }
    if (!key) throw new ApiError('invalid_api_key')
    if (key.status !== 'enabled')
      throw new ApiError(key.status === 'disabled' ? 'key_disabled' : 'key_cancelled')
    return this.contextFor(key)
  }
}

const allSubscribers = query((db) => db.selectFrom('subscriber').select(['id', 'name', 'email']))

/** Subscribers by id. They come, and change, with the keys' state. */
function subscriberIndex({ engine }: OperatorCtx): (id: string) => Subscriber {
  const known = engine.remember('keys', function* () {
    const rows: Subscriber[] = yield* all(allSubscribers)
    return new Map(rows.map((row) => [row.id, row]))
  })
  return (id) => {
    const subscriber = known().get(id)
    // Whoever has a key has a subscriber: the database holds them to it.
    if (!subscriber) throw new Error(`there is no subscriber ${id}`)
    return subscriber
  }
}
