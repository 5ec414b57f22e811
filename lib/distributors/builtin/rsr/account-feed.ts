/** RSR's inventory as its files give it to an account: the whole of it, and the quantities alone. */
import { FTPError } from 'basic-ftp'
import { MINUTE } from '../../../core/clock.js'
import type { AccountFeed, FeedBrought, FeedWanted } from '../../account-feed.js'
import { FeedFault } from '../../account-feed.js'
import type { FtpFiles } from '../../session/ftp.js'
import type { Session } from '../../session/session.js'
import { accountsOf } from './accounts.js'
import { withFiles } from './files.js'
import { catalog, quantity } from './feed.js'

const FOLDER = 'ftpdownloads'
/** Bytes of a file; the whole inventory had 11 MB. */
const LARGEST = 512 * 1_048_576
/** Replies of a server that does not have a command. */
const UNKNOWN_COMMAND = new Set([500, 502, 504])
/** Milliseconds until the second in which a file was changed is surely over. */
const SETTLED = MINUTE

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
    download(files, session, wanted, `${FOLDER}/${name}`),
  )
}

/** Some accounts may not list: files are asked for by name. */
async function download(
  files: FtpFiles,
  session: Session,
  { file, mark: last }: FeedWanted,
  path: string,
): Promise<FeedBrought> {
  const [size, changed] = [await sizeOf(files, path), await files.modified(path)]
  const mark = size !== null && changed !== null ? `${size} ${changed}` : null
  if (mark !== null && mark === last) return { outcome: 'unchanged', asOf: changed!, mark }
  const bytes = await files.download(path, file, LARGEST)
  if (bytes === null) throw new FeedFault(`there is no ${path}, or the account may not read it`)
  // A server may end a transfer as if it were whole.
  if (size !== null && bytes < size && (await sizeOf(files, path)) === size)
    throw new FeedFault(`${path} was cut off after ${bytes} of ${size} bytes`)
  const isSame = bytes === size && changed !== null && (await files.modified(path)) === changed
  return {
    outcome: 'written',
    ...(changed !== null && { asOf: changed }),
    ...(mark !== null && isSame && session.now() - changed! > SETTLED && { mark }),
  }
}

/** Null also where the server does not know the command. */
async function sizeOf(files: FtpFiles, path: string): Promise<number | null> {
  try {
    return await files.size(path)
  } catch (error) {
    if (error instanceof FTPError && UNKNOWN_COMMAND.has(error.code)) return null
    throw error
  }
}
