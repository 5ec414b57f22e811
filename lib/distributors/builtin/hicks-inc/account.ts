/**
 * Hicks Inc.'s settings as its connector reads them, its FTP server, and whether a login is good.
 * What is known of it comes from one client that others published; it was never tried with an
 * account.
 */
import type { CheckOutcome } from '../../distributor.js'
import type { FtpFiles, FtpServer } from '../../session/ftp.js'
import { NoReply, textOf } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { workWithFiles } from '../../session/work-with-files.js'

/** Plain FTP: the password and the orders go over the line as they are. */
export const SERVER: FtpServer = { host: 'ftp.hicksinc.com', port: 21, isSecure: false }

/** The settings that this connector reads. */
export interface HicksIncSettings {
  readonly ftp_user?: unknown
  readonly ftp_password?: unknown
  readonly ship_method?: unknown
}

/** To Hicks. */
export const INBOX = 'th'
/** From Hicks: orders as they were taken, and those that were not. */
export const TAKEN = 'fh/orders'
export const PROBLEMS = 'fh/problems'
export const TRACKING = 'fh/tracking/tracking.tab'
export const CATALOG = 'fh/full.csv'
export const STOCK = 'fh/qtyprc.csv'

/** Works with the files of the account. Throws a NoReply. */
export async function withFiles<R>(
  session: Session<HicksIncSettings>,
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  const { ftp_user, ftp_password } = session.settings
  const [user, password] = [textOf(ftp_user), textOf(ftp_password)]
  if (user === null || password === null)
    throw new NoReply(
      'the credentials are not configured: enter fulfillment.ftp_user and fulfillment.ftp_password',
      { mayHaveArrived: false },
    )
  return workWithFiles(session, { user, password }, work)
}

/** Asks whether the login is good, and whether the folders are there that orders depend on. */
export async function checkLogin(session: Session<HicksIncSettings>): Promise<CheckOutcome> {
  try {
    await withFiles(session, async (files) => {
      for (const folder of [INBOX, TAKEN, PROBLEMS]) await files.entries(folder)
    })
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}
