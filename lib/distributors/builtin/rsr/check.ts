/** Are RSR's credentials good? Each account is asked, by each way that is set. */
import type { CheckOutcome } from '../../distributor.js'
import { NoReply } from '../../session/reply.js'
import { Unreachable } from '../../session/session.js'
import type { Session } from '../../session/session.js'
import { accountsOf, isByFiles } from './accounts.js'
import type { Account } from './accounts.js'
import { ask, DONE } from './api.js'
import { withFiles } from './files.js'

/** A file that every account may read. */
const INVENTORY = 'ftpdownloads/rsrinventory-new.txt'

/** Throws an Unreachable that says why it cannot tell. */
export async function checkLogins(session: Session): Promise<CheckOutcome> {
  const accounts = accountsOf(session.settings)
  if (accounts.length === 0) return 'invalid'
  const byFiles = isByFiles(session.settings)
  for (const account of accounts)
    for (const isGood of [...(byFiles ? [] : [askApi]), ...(hasFiles(account) ? [askFiles] : [])])
      if (!(await answered(() => isGood(session, account)))) return 'invalid'
  return 'valid'
}

const hasFiles = ({ filePassword }: Account) => filePassword !== null

async function askApi(session: Session, account: Account): Promise<void> {
  const { code, says } = await ask(session, account, 'get-items', { Limit: 1, Offset: 0 })
  if (code !== DONE) throw new NoReply(`RSR answers ${code} ${says}`, { mayHaveArrived: false })
}

const askFiles = (session: Session, account: Account) =>
  withFiles(session, account, (files) => files.size(INVENTORY))

/** False where the login was refused. */
async function answered(question: () => Promise<unknown>): Promise<boolean> {
  try {
    await question()
    return true
  } catch (error) {
    if (!(error instanceof NoReply)) throw error
    if (error.isLoginRefused) return false
    throw new Unreachable(error.message, { cause: error })
  }
}
