/** A session that answers as a recording does, so that a connector can be tried against it. */
import { writeFile } from 'node:fs/promises'
import type { FtpEntry, FtpFiles } from '../../distributors/session/ftp.js'
import type { HttpAnswer } from '../../distributors/session/http.js'
import type { ApiCall, Session } from '../../distributors/session/session.js'
import { NAMED, pathOf } from './tape.js'
import type { TapedCall } from './tape.js'

/** Throws, from the call that the recording has no answer for. */
export class NotRecorded extends Error {
  override readonly name = 'NotRecorded'
}

/**
 * Answers calls in the order in which they were recorded; one of a path that was asked more often
 * then answers as its last one did. `settings` are any that the connector can work with.
 */
export function replaySession(
  calls: readonly TapedCall[],
  settings: Readonly<Record<string, unknown>>,
  { now, signal }: Pick<Session, 'now' | 'signal'>,
): Session {
  const left = new Map<string, TapedCall[]>()
  for (const call of calls) {
    const key = `${call.method} ${call.path}`
    left.set(key, [...(left.get(key) ?? []), call])
  }
  const next = (method: string, path: string): TapedCall => {
    const key = `${method} ${pathOf(path)}`
    const [call, ...more] = left.get(key) ?? []
    if (!call) throw new NotRecorded(`the recording has no answer to ${key}`)
    if (more.length > 0) left.set(key, more)
    return call
  }
  const answerTo = ({ method, path }: Pick<ApiCall, 'method' | 'path'>): HttpAnswer => {
    const { status, contentType, body } = next(method, path)
    return {
      status: status ?? 0,
      headers: new Map(contentType === null ? [] : [['content-type', contentType]]),
      body: Buffer.from(body ?? ''),
    }
  }
  const http: Session['http'] = async (call) => answerTo(call)
  const stream: Session['stream'] = async (call, take) => {
    const answer = answerTo(call)
    if (answer.status !== 200) return { ...answer, isTaken: false }
    await take(piecesOf(answer.body), answer.headers)
    return { ...answer, body: Buffer.alloc(0), isTaken: true }
  }
  const ftp: Session['ftp'] = async (_login, work) => work(filesOf(calls, next))
  return {
    settings,
    signal,
    now,
    http,
    httpAt: () => http,
    stream,
    streamAt: () => stream,
    streamFrom: (call, take) => stream({ ...call, method: 'GET', path: NAMED }, take),
    ftp,
    ftpAt: () => ftp,
    api: () => ({ http, stream }),
    ftpOf: () => ftp,
    recorded: (files) => files,
    connect: async () => {
      throw new Error('nobody connects to a recording')
    },
    mail: async () => ({ outcome: 'not_sent', reason: 'nothing is sent to a recording' }),
    hide: () => {},
    login: () => ({
      reason: () => null,
      accepted: () => {},
      refused: () => {},
      known: { get: () => undefined, set: () => {} },
    }),
  }
}

async function* piecesOf(body: Buffer): AsyncGenerator<Buffer> {
  yield body
}

function filesOf(
  calls: readonly TapedCall[],
  next: (method: string, path: string) => TapedCall,
): FtpFiles {
  const bytesOf = (path: string) => {
    const body = calls.find((one) => one.method === 'RETR' && one.path === path)?.body
    return body === undefined || body === null ? null : Buffer.from(body)
  }
  return {
    // Of what was kept of the file: whoever compares finds it whole.
    size: async (path) => bytesOf(path)?.length ?? numberOf(next('SIZE', path).body),
    modified: async (path) => numberOf(next('MDTM', path).body),
    read: async (path) => {
      const { body } = next('RETR', path)
      return body === null ? null : Buffer.from(body)
    },
    download: async (path, to) => {
      const { body } = next('RETR', path)
      if (body === null) return null
      await writeFile(to, body)
      return Buffer.byteLength(body)
    },
    names: async (folder) => (next('NLST', folder).body ?? '').split('\n').filter(Boolean),
    entries: async (folder) => JSON.parse(next('LIST', folder).body ?? '[]') as FtpEntry[],
    upload: async () => {
      throw new NotRecorded('a recording takes no file')
    },
  }
}

const numberOf = (text: string | null) => (text === null ? null : Number(text))
