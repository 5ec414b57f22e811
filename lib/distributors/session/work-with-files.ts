/** An FTP session with a login that is guarded as those of an API are. */
import { FtpFault } from './ftp.js'
import type { FtpFiles } from './ftp.js'
import { NoReply } from './reply.js'
import type { Session } from './session.js'

/** Throws a NoReply, whose `mayHaveArrived` is about an upload. */
export async function workWithFiles<R>(
  session: Pick<Session, 'login' | 'ftp' | 'signal'>,
  login: { readonly user: string; readonly password: string },
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  const gate = session.login(login.user, login.password)
  const shut = gate.reason()
  if (shut !== null) throw new NoReply(shut, { mayHaveArrived: false })
  try {
    const result = await session.ftp(login, work)
    gate.accepted()
    return result
  } catch (error) {
    session.signal.throwIfAborted()
    if (!(error instanceof FtpFault)) throw error
    const isLoginRefused = error.code === 530
    if (isLoginRefused) gate.refused()
    throw new NoReply(error.message, { mayHaveArrived: error.sent, isLoginRefused })
  }
}
