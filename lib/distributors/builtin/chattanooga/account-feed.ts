/**
 * Chattanooga's product feed as its API gives it to an account: an address that is good for one
 * file, on another host.
 */
import { MINUTE, SECOND } from '../../../core/clock.js'
import { FeedFault } from '../../account-feed.js'
import type { AccountFeed, FeedWanted } from '../../account-feed.js'
import { memberOf, NoReply, streamOnce, textOf } from '../../session/reply.js'
import { savePieces } from '../../session/row-file.js'
import type { Session } from '../../session/session.js'
import { get } from './api.js'
import { catalog } from './feed.js'

/** Milliseconds from one feed to the next; whoever asks before begins to wait anew. */
const EVERY = 20 * MINUTE

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: {
    async bring(session, wanted) {
      const url = await askForAddress(session, wanted)
      // It is as good as a login while it lasts.
      session.hide(url)
      const answer = await streamOnce(session, () =>
        // Without the account's header, which is for the API alone; it refuses to answer in JSON.
        session.streamFrom({ url, headers: { accept: 'text/csv, */*' } }, (pieces) =>
          savePieces(wanted.file, pieces),
        ),
      )
      if (answer.isTaken) return { outcome: 'written' }
      throw new FeedFault(
        answer.status === 200
          ? 'the address of the file answers with a page in HTML'
          : `the address of the file answers HTTP ${answer.status}`,
      )
    },
  },
}

async function askForAddress(session: Session, { holdUntil }: FeedWanted): Promise<string> {
  const wait = (ms: number) => holdUntil(session.now() + ms)
  try {
    const answer = await get(session, 'items/product-feed')
    await wait(EVERY)
    const url = textOf(memberOf(answer['product_feed'], 'url'))
    if (url === null) throw new FeedFault('the answer names no address of a file')
    return url
  } catch (error) {
    if (!(error instanceof NoReply) || !error.isTooMany) throw error
    await wait(Math.max(EVERY, (error.retryAfter ?? 0) * SECOND))
    throw new FeedFault('it was asked too soon after the last feed (HTTP 429)')
  }
}
