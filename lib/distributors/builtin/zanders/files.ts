/** Zanders' FTP server, where the files of the catalog lie. */
import type { FtpFiles, FtpServer } from '../../session/ftp.js'
import { NoReply, textOf } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { workWithFiles } from '../../session/work-with-files.js'
import type { ZandersSettings } from './accounts.js'

/** Plain FTP: Zanders offers nothing else. */
export const SERVER: FtpServer = { host: 'ftp2.gzanders.com', port: 21, isSecure: false }

export const CATALOG = 'zandersinv.xml'
export const CATALOG_CSV = 'zandersinv.csv'
export const QUANTITIES = 'liveinv.xml'
export const QUANTITIES_CSV = 'liveinv.csv'

/** Where the files of an account lie: in a folder of its own, or in that of all. */
export function folderOf({ ftp_folder: folder }: ZandersSettings): string {
  const own = (textOf(folder) ?? '').replace(/^\/?(?:Inventory(?:\/|$))?/i, '').replace(/\/$/, '')
  if (own === '') return 'Inventory'
  if (/^\w[\w .-]{0,63}$/.test(own)) return `Inventory/${own}`
  throw new NoReply('fulfillment.ftp_folder is not the name of one folder', {
    mayHaveArrived: false,
  })
}

const loginIn = ({ ftp_user: user, ftp_password: password }: ZandersSettings) => {
  const [name, secret] = [textOf(user), textOf(password)]
  return name === null || secret === null ? null : { user: name, password: secret }
}

/** Works with the files of an account. Throws a NoReply where there is no login, or none is taken. */
export async function withFiles<R>(
  session: Session,
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  const login = loginIn(session.settings)
  if (login === null)
    throw new NoReply(
      'the feed comes as a file, and there is no login for files: enter fulfillment.ftp_user and ' +
        'fulfillment.ftp_password',
      { mayHaveArrived: false },
    )
  return workWithFiles(session, login, work)
}

/** Logs in for files, where there is a login for them. Throws a NoReply where it is not taken. */
export async function checkFiles(session: Session): Promise<void> {
  if (loginIn(session.settings) === null) return
  await withFiles(session, (files) => files.size(`${folderOf(session.settings)}/${CATALOG}`))
}
