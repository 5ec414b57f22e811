/**
 * Offers straight into the catalog, without a feed: for test apps and embedders that have their own
 * source of them.
 */
import type { FeedOffer } from '../../distributors/feed-offer.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { readState } from '../../catalog/queries.js'
import { lend } from '../../catalog/snapshot/lending.js'
import { OfferWriter } from './offer-writer.js'
import { addToTally, writeState } from './queries.js'

/**
 * `classified` false: nobody could tell what it is, so that its class is lent by others' offers.
 */
export type WrittenOffer = FeedOffer & { distid: string; classified?: boolean }

/**
 * Adds or updates these offers in one transaction, at operator's prices; others stay as they are.
 * `now` is milliseconds.
 */
export function writeOffers(catalog: Raw, offers: Iterable<WrittenOffer>, now: number): void {
  const all = [...offers]
  catalog
    .transaction(() => {
      const revision = readState(catalog).revision + 1
      let written = 0
      let reworded = false
      for (const distid of new Set(all.map((offer) => offer.distid))) {
        const writer = new OfferWriter({
          catalog,
          changes: { record: () => {} },
          distid,
          subscriberId: null,
          revision,
          now,
          asOf: now,
        })
        for (const offer of all) {
          if (offer.distid === distid)
            writer.take(
              { ...offer, held: false, classified: offer.classified ?? true, mark: 0 },
              writer.find(offer.stockid),
            )
        }
        addToTally(catalog, distid, writer.counts)
        written += writer.counts.added + writer.counts.changed
        reworded ||= writer.counts.reworded
        reworded = lend(catalog, writer.touched.keys, { revision, now }) || reworded
      }
      if (written > 0) writeState(catalog, revision, reworded, now)
    })
    .immediate()
}
