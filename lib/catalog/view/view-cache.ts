/** Subscribers' views of the newest snapshot, kept for as long as it and their document stand. */
import type { Subscriber } from '../../accounts/caller.js'
import { nextTurn } from '../../core/async/wait.js'
import type { Saved } from '../../configuration/document/saved.js'
import { INLINE_OFFERS } from '../snapshot/live.js'
import type { Snapshot } from '../snapshot/snapshot.js'
import { makePrices, makeView } from './view.js'
import type { Prices, View } from './view.js'

/**
 * One subscriber's views, with restrictions and without, of one snapshot and one saved document.
 */
interface SubscriberViews {
  snapshot: Snapshot
  saved: Saved
  prices: Prices
  views: Map<boolean, View>
}

export class ViewCache {
  readonly #bySubscriber = new Map<string, SubscriberViews>()

  /**
   * The view before helps to compute the next one; an older one would only keep its snapshot in
   * memory.
   */
  keepOnly(snapshot: Snapshot | null): void {
    for (const [id, kept] of this.#bySubscriber)
      if (kept.snapshot !== snapshot) this.#bySubscriber.delete(id)
  }

  async viewOf(
    snapshot: Snapshot,
    subscriber: Subscriber,
    saved: Saved,
    ignoreRestrictions: boolean,
  ): Promise<View> {
    const { document, eligible } = saved
    const input = { subscriberId: subscriber.id, document, eligible, ignoreRestrictions }
    // Prices, view and what follows, such as a sort, are each work for a turn of the loop of its
    // own.
    const turn = () => (snapshot.rows > INLINE_OFFERS ? nextTurn() : undefined)
    const before = this.#bySubscriber.get(subscriber.id)
    let kept = before
    if (kept?.snapshot !== snapshot || kept.saved !== saved) {
      kept = { snapshot, saved, prices: makePrices(snapshot, input), views: new Map() }
      this.#bySubscriber.set(subscriber.id, kept)
      await turn()
    }
    let view = kept.views.get(ignoreRestrictions)
    if (!view) {
      const previous = before?.saved === saved ? before.views.get(ignoreRestrictions) : undefined
      view = makeView(snapshot, input, kept.prices, previous)
      kept.views.set(ignoreRestrictions, view)
      await turn()
    }
    return view
  }
}
