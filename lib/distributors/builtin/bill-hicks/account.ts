/** Bill Hicks's settings as its connector reads them, its FTP server, and whether a login is good. */
import type { CheckOutcome } from '../../distributor.js'
import type { FtpFiles, FtpServer } from '../../session/ftp.js'
import { NoReply, textOf } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { workWithFiles } from '../../session/work-with-files.js'

/** Plain FTP: the password and the orders go over the line as they are. */
export const SERVER: FtpServer = { host: 'billhicksco.hostedftp.com', port: 21, isSecure: false }

/** The settings that these connectors read. */
export interface BillHicksSettings {
  readonly customer_number?: unknown
  readonly ffl_recipient_emails?: unknown
  readonly ship_to?: unknown
  readonly default_ship_method?: unknown
  readonly firearm_ship_method?: unknown
  readonly ftp_user?: unknown
  readonly ftp_password?: unknown
  readonly ftp_folder?: unknown
  readonly ftp_order_folder?: unknown
  readonly ftp_answer_folder?: unknown
}

/** Where things lie for an account, without a slash at the end. */
export interface Folders {
  /** Of a file of the feed, by its name. */
  feed(name: string): string
  readonly orders: string
  readonly answers: string
}

/** Partners have a folder of their own, and not all of theirs are called alike. */
export function foldersOf(settings: BillHicksSettings): Folders {
  const top = folderOf(settings.ftp_folder, '')
  const below = (name: string) => (top === '' ? name : `${top}/${name}`)
  return {
    feed: below,
    orders: below(folderOf(settings.ftp_order_folder, 'toBHC')),
    answers: below(folderOf(settings.ftp_answer_folder, 'fromBHC')),
  }
}

const folderOf = (value: unknown, usual: string): string =>
  (textOf(value) ?? usual).replaceAll(/^\/+|\/+$/g, '')

/** Throws a NoReply where it is not configured. */
export function customerOf({ customer_number }: BillHicksSettings): string {
  const customer = textOf(customer_number)
  if (customer === null)
    throw new NoReply('the credentials are not configured: enter fulfillment.customer_number', {
      mayHaveArrived: false,
    })
  return customer
}

/** Works with the files of the account. Throws a NoReply. */
export async function withFiles<R>(
  session: Session<BillHicksSettings>,
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

/**
 * Asks whether the login is good, and whether the folders are there: an order that is written where
 * nobody looks is lost. Nobody can be asked for the customer number.
 */
export async function checkLogin(session: Session<BillHicksSettings>): Promise<CheckOutcome> {
  const { orders, answers } = foldersOf(session.settings)
  try {
    await withFiles(session, async (files) => {
      for (const folder of [orders, answers]) await files.entries(folder)
    })
    return 'valid'
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return 'invalid'
    throw new Unreachable(error.message, { cause: error })
  }
}
