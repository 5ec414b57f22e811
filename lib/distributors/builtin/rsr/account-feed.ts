/** RSR's inventory as its files give it to an account: the whole of it, and the quantities alone. */
import type { AccountFeed, FeedBrought, FeedWanted } from '../../account-feed.js'
import { FeedFault } from '../../account-feed.js'
import { bringFile } from '../../session/feed-file.js'
import type { Session } from '../../session/session.js'
import { accountsOf } from './accounts.js'
import { withFiles } from './files.js'
import { catalog, quantity } from './feed.js'

const FOLDER = 'ftpdownloads'

export const feeds: Readonly<Record<string, AccountFeed>> = {
  [catalog.id]: { bring: (session, wanted) => bring(session, wanted, 'rsrinventory-new.txt') },
  [quantity.id]: { bring: (session, wanted) => bring(session, wanted, 'IM-QTY-CSV.csv') },
}

/** The dealers whose license RSR has. */
export const dealers: AccountFeed = {
  bring: (session, wanted) => bring(session, wanted, 'ffl-transfer-dealers.txt'),
}

async function bring(session: Session, wanted: FeedWanted, name: string): Promise<FeedBrought> {
  const account = accountsOf(session.settings).find(({ filePassword }) => filePassword !== null)
  if (!account)
    throw new FeedFault(
      'the feed comes as a file, and no account has a password for files: enter fulfillment.ftp_password',
    )
  return withFiles(session, account, (files) =>
    bringFile(files, session.now, wanted, `${FOLDER}/${name}`),
  )
}
