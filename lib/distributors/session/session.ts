import type { Socket } from 'node:net'
import type { Egress } from './egress.js'
import type { FtpFiles, FtpServer } from './ftp.js'
import type { HttpAnswer, HttpCall } from './http.js'
import type { CallMail } from './mail.js'
import type { StreamedAnswer, TakePieces } from './stream.js'

/** A call below the address of a distributor. */
export interface ApiCall extends Omit<HttpCall, 'url'> {
  /** Without a slash in front, with its query. */
  readonly path: string
  /** Goes behind it, and is recorded nowhere: what would be a body with a better API. */
  readonly unrecordedQuery?: string
}

/**
 * Thrown by a credential check where nobody could be asked. What it says is logged: it holds nothing
 * of what was sent or answered.
 */
export class Unreachable extends Error {
  override readonly name = 'Unreachable'
}

/** Makes one call. Rejects with a CallFault. */
export type CallApi = (call: ApiCall) => Promise<HttpAnswer>

/** Makes one call whose answer may be long, and hands that on. Rejects with a CallFault. */
export type StreamApi = (call: ApiCall, take: TakePieces) => Promise<StreamedAnswer>

/** Logs in, works with the files, and ends. Rejects with an FtpFault. */
export type CallFtp = <R>(
  login: { readonly user: string; readonly password: string },
  work: (files: FtpFiles) => Promise<R>,
) => Promise<R>

/** A memory of what was read. */
export interface Known {
  get(key: string): object | undefined
  set(key: string, value: object): unknown
}

/** What is known of one login. */
export interface LoginGate {
  /** Why it is not tried now; null where it may be. */
  reason(): string | null
  /** The distributor took the login. */
  accepted(): void
  /** The distributor refused it: the credentials, and nothing else. */
  refused(): void
  /**
   * What was read with it and can change no more, for as long as the app is open: a connector need
   * not read it again. It may forget.
   */
  readonly known: Known
}

/** What a connector is given to work with. */
export interface Session<Values = Readonly<Record<string, unknown>>> {
  /**
   * Values by the names of the distributor's settings; one that the subscriber has not set is
   * absent.
   */
  readonly settings: Values
  /** Aborted when the time is up or the app closes. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970. */
  readonly now: () => number
  /**
   * Makes one HTTP call at the distributor's address: one attempt over a connection of its own.
   * Rejects with a CallFault, whose `sent` says whether the distributor may have got any of it.
   */
  readonly http: CallApi
  /** The same at another address: a simulator's. */
  readonly httpAt: (address: string, egress: Egress, signal?: AbortSignal) => CallApi
  /** The same for an answer that is too long for memory. */
  readonly stream: StreamApi
  readonly streamAt: (address: string, egress: Egress, signal?: AbortSignal) => StreamApi
  /**
   * The same at an address that the distributor named in an answer, whatever its host: over https,
   * without any credentials of the account, and to no private address.
   */
  readonly streamFrom: (
    call: Pick<HttpCall, 'url' | 'headers' | 'answerTimeout' | 'stallTimeout' | 'maxBytes'>,
    take: TakePieces,
  ) => Promise<StreamedAnswer>
  /**
   * One session with the distributor's FTP server. Rejects with an FtpFault, whose `sent` says
   * whether the distributor may have got what was to be uploaded.
   */
  readonly ftp: CallFtp
  /** Calls at another address of the distributor's, one that it has declared as its own. */
  readonly api: (address: string) => { readonly http: CallApi; readonly stream: StreamApi }
  /** The same of another FTP server. */
  readonly ftpOf: (server: FtpServer) => CallFtp
  /** Files that are reached in another way, with what is done to them in the transcript. */
  readonly recorded: (files: FtpFiles) => FtpFiles
  /** A connection to a server that it has declared, without anything said. Rejects with an EgressFault. */
  readonly connect: (host: string, port: number) => Promise<Socket>
  /** Sends one message by the operator's mail server. What became of it is told, not thrown. */
  readonly mail: CallMail
  /** The same at another server: a simulator's. */
  readonly ftpAt: (server: FtpServer, egress: Egress, signal?: AbortSignal) => CallFtp
  /**
   * Keeps a value out of everything that is written down, as the secret settings are: a token that
   * the distributor gave.
   */
  readonly hide: (secret: string) => void
  /**
   * What is known of a login, by all that it is made with. To be asked before it is tried, and told
   * how it ended: after two refusals nobody tries for an hour.
   */
  readonly login: (...credentials: string[]) => LoginGate
}
