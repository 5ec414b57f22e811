/** A session of a distributor at its own address. */
import { openConnection } from './connection.js'
import { sendMail } from './mail.js'
import type { MailOutcome } from './mail.js'
import type { Distributor } from '../distributor.js'
import { isIP } from 'node:net'
import { EgressFault } from './egress.js'
import type { OperatorEgress } from './egress.js'
import { FtpFault, withFtp } from './ftp.js'
import type { FtpFiles } from './ftp.js'
import { CallFault, callHttp } from './http.js'
import type { HttpAnswer } from './http.js'
import type { CallApi, LoginGate, Session, StreamApi } from './session.js'
import { streamHttp } from './stream.js'
import type { Transcript } from './transcript.js'

export interface SessionOptions {
  readonly settings: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  readonly now: () => number
  readonly egress?: OperatorEgress
  /** What its calls are recorded in. */
  readonly transcript?: Transcript
  /** What is known of its logins. */
  readonly login?: (credentials: readonly string[]) => LoginGate
  /**
   * Why nothing may leave any more, or null. Asked before a connection is made, and once more when it
   * is there, right before the first byte of a call, a file or a message.
   */
  readonly refusal?: () => string | null
}

/** Of a session whose logins nobody counts. */
const OPEN: LoginGate = {
  reason: () => null,
  accepted: () => {},
  refused: () => {},
  known: { get: () => undefined, set: () => {} },
}

/** What a connector of this distributor is given; it can call the distributor's own host alone. */
export function openSession(
  { name, api, files, hosts = [] }: Pick<Distributor, 'name' | 'api' | 'files' | 'hosts'>,
  { settings, signal, now, egress = {}, transcript, login, refusal = () => null }: SessionOptions,
): Session {
  const mayCall = () => {
    const why = refusal()
    if (why !== null) throw new CallFault(why, false, undefined)
  }
  const mayUpload = () => {
    const why = refusal()
    if (why !== null) throw new FtpFault(why, { sent: false, cause: undefined })
  }
  const httpAt: Session['httpAt'] = (address, to, until = signal) => {
    const call: CallApi = async ({ path, unrecordedQuery, ...rest }) => {
      mayCall()
      const url = addressOf(address + path, unrecordedQuery)
      return callHttp(to, { ...rest, url }, until, mayCall)
    }
    return transcript ? (one) => transcript.record(one, () => call(one), ofHttp) : call
  }
  const streamAt: Session['streamAt'] = (address, to, until = signal) => {
    const call: StreamApi = async ({ path, ...rest }, take) => {
      mayCall()
      return streamHttp(to, { ...rest, url: address + path }, until, take, mayCall)
    }
    return transcript ? (one, take) => transcript.record(one, () => call(one, take), ofHttp) : call
  }
  const ftpAt: Session['ftpAt'] =
    (server, to, until = signal) =>
    async (login, work) => {
      mayUpload()
      return withFtp(
        to,
        { ...server, ...login },
        until,
        (found) => work(transcript ? recorded(found, transcript, mayUpload) : found),
        mayUpload,
      )
    }
  return {
    settings,
    signal,
    now,
    httpAt,
    ftpAt,
    streamAt,
    streamFrom: async (call, take) => {
      const { hostname } = checkNamed(call.url)
      const to = { ...egress, hosts: [hostname] }
      return streamAt('', to)({ ...call, method: 'GET', path: call.url }, take)
    },
    api: (address) => {
      const to = { ...egress, hosts, mayBePlain: true }
      return { http: httpAt(address, to), stream: streamAt(address, to) }
    },
    ftpOf: (server) => ftpAt(server, { ...egress, hosts }),
    recorded: (files) => (transcript ? recorded(files, transcript, mayUpload) : files),
    mail: async (message) => {
      const send = async (): Promise<MailOutcome> => {
        if (!egress.mail) return NO_MAIL_SERVER
        const why = refusal()
        if (why !== null) return { outcome: 'not_sent', reason: why }
        return sendMail(egress.mail, message, signal, refusal)
      }
      const { to, subject, text, attachment } = message
      const body = attachment?.content.toString('latin1') ?? text
      return transcript
        ? transcript.record({ method: 'MAIL', path: `${to} ${subject}`, body }, send, (told) => ({
            status: null,
            answer: told.outcome === 'sent' ? 'sent' : `${told.outcome}: ${told.reason}`,
          }))
        : send()
    },
    connect: async (host, port) => {
      mayCall()
      return openConnection({ ...egress, hosts }, { host, port, isSecure: false }, signal)
    },
    ftp:
      files === undefined
        ? async () => {
            throw new FtpFault(`${name} has no FTP server`, { sent: false, cause: undefined })
          }
        : ftpAt(files, { ...egress, hosts: [files.host] }),
    http:
      api === undefined
        ? async () => {
            throw new CallFault(`${name} has no address that could be called`, false, undefined)
          }
        : httpAt(api.url, { ...egress, hosts: [new URL(api.url).hostname] }),
    stream:
      api === undefined
        ? async () => {
            throw new CallFault(`${name} has no address that could be called`, false, undefined)
          }
        : streamAt(api.url, { ...egress, hosts: [new URL(api.url).hostname] }),
    hide: (secret) => transcript?.hide(secret),
    login: (...credentials) => login?.(credentials) ?? OPEN,
  }
}

const NO_MAIL_SERVER: MailOutcome = {
  outcome: 'not_sent',
  reason: 'no mail server is set: give QUARTERMASTER_MAIL_SERVER',
}

const addressOf = (url: string, query = ''): string =>
  query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`

/**
 * An address that a distributor named: a name of the internet, over https. What a proxy of the
 * operator's would look up itself is checked here as far as that goes.
 */
function checkNamed(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : null
  const fault = (why: string) =>
    new CallFault(`the distributor names an address ${why}`, false, new EgressFault(why))
  if (url === null) throw fault('that is none')
  if (url.protocol !== 'https:') throw fault('that is not asked over https')
  if (url.port !== '' || url.username !== '' || url.password !== '')
    throw fault('with a port or a login of its own')
  const host = url.hostname
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !host.includes('.') || host.endsWith('.local'))
    throw fault('that has no name of the internet')
  return url
}

const ofHttp = ({ status, body }: HttpAnswer) => ({ status, answer: body.toString('utf8') })

/** The same files, with what is done to them in the transcript. */
function recorded(files: FtpFiles, transcript: Transcript, mayUpload: () => void): FtpFiles {
  const done = (answer: unknown) => ({
    status: null,
    answer: answer === null ? 'no such file' : String(answer),
  })
  return {
    size: (path) => transcript.record({ method: 'SIZE', path }, () => files.size(path), done),
    modified: (path) =>
      transcript.record({ method: 'MDTM', path }, () => files.modified(path), done),
    read: (path, maxBytes) =>
      transcript.record({ method: 'RETR', path }, () => files.read(path, maxBytes), done),
    download: (path, to, maxBytes) =>
      transcript.record({ method: 'RETR', path }, () => files.download(path, to, maxBytes), done),
    names: (folder) =>
      transcript.record(
        { method: 'NLST', path: folder },
        () => files.names(folder),
        (names) => ({ status: null, answer: names.join('\n') }),
      ),
    entries: (folder) =>
      transcript.record(
        { method: 'LIST', path: folder },
        () => files.entries(folder),
        (entries) => ({ status: null, answer: entries.map(({ name }) => name).join('\n') }),
      ),
    upload: (path, bytes, options) =>
      transcript.record(
        { method: 'STOR', path, body: bytes },
        async () => {
          mayUpload()
          return files.upload(path, bytes, options)
        },
        () => ({ status: null, answer: 'written' }),
      ),
  }
}
