/** Zanders' FTP server as a simulator has it: the catalog and its quantities, in XML and in CSV. */
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { FtpAct, FtpAnswer } from '../../../simulator/wire/ftp-conversation.js'
import type { FtpSite } from '../../../simulator/wire/ftp-simulator.js'
import { CATALOG, CATALOG_CSV } from './files.js'
import { catalogTime, FILES, itemsOf } from './simulator-items.js'

const NOT_THERE: FtpAnswer = { refused: 550, text: 'No such file or directory' }

export function zandersFiles(world: World, { credentials }: Profile): FtpSite {
  return {
    logIn: (user, password) =>
      user === credentials['ftp_user'] && password === credentials['ftp_password'],
    handle: ({ act }) => ({
      answer: answerTo(world, `Inventory/${credentials['ftp_folder']}`, act),
    }),
  }
}

/** In the folder of the account, and in that of all. */
function answerTo(world: World, own: string, { kind, path }: FtpAct): FtpAnswer {
  if (kind === 'store') return { refused: 553, text: 'Not allowed' }
  const folders = [`/${own}`, '/Inventory']
  if (kind === 'list') return { names: folders.includes(path) ? [...FILES.keys()] : [] }
  const at = path.lastIndexOf('/')
  const name = path.slice(at + 1)
  const write = folders.includes(path.slice(0, at)) ? FILES.get(name) : undefined
  const written = catalogTime(world)
  if (!write || written === null) return NOT_THERE
  const file = Buffer.from(write(itemsOf(world)), 'latin1')
  // Quantities are as of now.
  return name === CATALOG || name === CATALOG_CSV ? { file, modifiedAt: written } : { file }
}
