/**
 * FTP and FTPS to a distributor: files are asked for by name, and an order's file appears whole or
 * not at all. Every connection, that for data too, goes to the checked address.
 */
import { rm } from 'node:fs/promises'
import { createWriteStream } from 'node:fs'
import { isIP, Socket } from 'node:net'
import type { TcpNetConnectOpts } from 'node:net'
import { Readable, Transform, Writable } from 'node:stream'
import { Client, FTPError } from 'basic-ftp'
import { CONNECT_TIMEOUT } from './connection.js'
import { addressOf, EgressFault } from './egress.js'
import type { Egress } from './egress.js'

/** An FTP server of a distributor. */
export interface FtpServer {
  readonly host: string
  readonly port: number
  /** Explicit TLS for commands and data. */
  readonly isSecure: boolean
}

/** A server, and who logs in; the certificate is always verified. */
export interface FtpLogin extends FtpServer {
  readonly user: string
  readonly password: string
}

/**
 * How a session failed. `sent` says whether the distributor may have got what was to be uploaded;
 * `code` is the server's reply, null where it gave none.
 */
export class FtpFault extends Error {
  override readonly name = 'FtpFault'
  readonly sent: boolean
  readonly code: number | null
  constructor(message: string, { sent, cause }: { sent: boolean; cause: unknown }) {
    super(message, { cause })
    this.sent = sent
    this.code = cause instanceof FTPError ? cause.code : null
  }
}

/** A file of a folder. */
export interface FtpEntry {
  readonly name: string
  /** Milliseconds since 1970; null where the list does not tell. */
  readonly modifiedAt: number | null
}

export interface FtpFiles {
  /** Bytes of a file; null where there is none, or where it may not be read. */
  size(path: string): Promise<number | null>
  /** When a file was changed, milliseconds since 1970; null where the server does not tell. */
  modified(path: string): Promise<number | null>
  /**
   * The whole of a small file, null where there is none. A file that is larger than `maxBytes` is a
   * fault.
   */
  read(path: string, maxBytes: number): Promise<Buffer | null>
  /** Brings a file to our disk, and tells its bytes; null where there is none. */
  download(path: string, to: string, maxBytes: number): Promise<number | null>
  /** Names in a folder; some accounts may read files and not see their names. */
  names(folder: string): Promise<string[]>
  /** The same, with when each was changed. */
  entries(folder: string): Promise<FtpEntry[]>
  /**
   * Puts a file there. With `draft` it is written under that name and renamed, so that nobody reads
   * half of it; without, where the partner forbids that, it is written once.
   */
  upload(path: string, bytes: Buffer, options?: { draft?: string }): Promise<void>
}

/** Milliseconds without a sign of the server. */
const STALL = 30_000
/** Replies to a command that say that nothing was done. */
const REFUSED = new Set([425, 500, 501, 502, 503, 504, 530, 532, 550, 553])
const NOT_THERE = 550

/**
 * Logs in, works, and ends the connection. Throws an FtpFault. `mayBegin` throws where nothing may be
 * written any more: it is asked right before each step of an upload, since a login and a connection
 * for data may take their time.
 */
export async function withFtp<R>(
  egress: Egress,
  login: FtpLogin,
  signal: AbortSignal,
  work: (files: FtpFiles) => Promise<R>,
  mayBegin: () => void = () => {},
): Promise<R> {
  const client = new Client(STALL, { allowSeparateTransferHost: true })
  const stop = () => client.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await logIn(client, egress, login, signal)
    return await work(new Files(client, mayBegin))
  } catch (error) {
    if (error instanceof FtpFault && !signal.aborted) throw error
    const sent = error instanceof FtpFault && error.sent
    throw new FtpFault(signal.aborted ? 'the call was given up' : reasonOf(error), {
      sent,
      cause: error,
    })
  } finally {
    signal.removeEventListener('abort', stop)
    client.close()
  }
}

async function logIn(
  client: Client,
  egress: Egress,
  { host, port, user, password, isSecure }: FtpLogin,
  signal: AbortSignal,
): Promise<void> {
  if (egress.proxy) throw new EgressFault(`${host} is asked by FTP, which goes through no proxy`)
  signal.throwIfAborted()
  const { address, family } = await addressOf(egress, host, signal)
  // Whatever address a server names for data: it is asked where it was asked before.
  client.ftp._newSocket = () =>
    new PinnedSocket({
      host: address,
      family,
      ...(egress.sourceAddress !== undefined && { localAddress: egress.sourceAddress }),
    })
  const late = setTimeout(() => client.close(), CONNECT_TIMEOUT)
  try {
    await client.access({
      host,
      port,
      user,
      password,
      secure: isSecure,
      secureOptions: {
        host,
        // A name alone may be told there (RFC 6066).
        ...(isIP(host) === 0 && { servername: host }),
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
        ...(egress.simulator?.certificate !== undefined && { ca: egress.simulator.certificate }),
      },
    })
  } finally {
    clearTimeout(late)
  }
}

/** A socket that connects to one address, whichever it is asked for. */
class PinnedSocket extends Socket {
  readonly #to: Pick<TcpNetConnectOpts, 'host' | 'family' | 'localAddress'>
  constructor(to: Pick<TcpNetConnectOpts, 'host' | 'family' | 'localAddress'>) {
    super()
    this.#to = to
  }

  override connect(...args: unknown[]): this {
    const [options, listener] = args as [TcpNetConnectOpts, (() => void) | undefined]
    return super.connect({ ...options, ...this.#to }, listener)
  }
}

class Files implements FtpFiles {
  readonly #client: Client
  readonly #mayBegin: () => void
  constructor(client: Client, mayBegin: () => void) {
    this.#client = client
    this.#mayBegin = mayBegin
  }

  size(path: string): Promise<number | null> {
    return orNull(this.#client.size(path))
  }

  async modified(path: string): Promise<number | null> {
    try {
      const at = (await this.#client.lastMod(path)).getTime()
      return Number.isNaN(at) ? null : at
    } catch (error) {
      // Not every server knows the command.
      if (error instanceof FTPError) return null
      throw error
    }
  }

  async read(path: string, maxBytes: number): Promise<Buffer | null> {
    const pieces: Buffer[] = []
    const sink = new Writable({
      write(piece: Buffer, _encoding, done) {
        pieces.push(piece)
        done()
      },
    })
    return (await this.#receive(path, sink, maxBytes)) === null ? null : Buffer.concat(pieces)
  }

  async download(path: string, to: string, maxBytes: number): Promise<number | null> {
    try {
      const bytes = await this.#receive(path, createWriteStream(to, { mode: 0o600 }), maxBytes)
      if (bytes === null) await rm(to, { force: true })
      return bytes
    } catch (error) {
      await rm(to, { force: true })
      throw error
    }
  }

  async #receive(path: string, sink: Writable, maxBytes: number): Promise<number | null> {
    let bytes = 0
    const counted = new Transform({
      transform(piece: Buffer, _encoding, done) {
        bytes += piece.length
        if (bytes > maxBytes) done(new Error(`${path} is larger than ${maxBytes} bytes`))
        else done(null, piece)
      },
    })
    const written = new Promise<void>((resolve, reject) => {
      counted.once('error', reject)
      sink.once('finish', resolve).once('error', reject)
    })
    // Heard of where the transfer is waited for.
    written.catch(() => {})
    counted.pipe(sink)
    const found = await orNull(this.#client.downloadTo(counted, path))
    if (found === null) {
      sink.destroy()
      return null
    }
    await written
    return bytes
  }

  async names(folder: string): Promise<string[]> {
    return (await this.entries(folder)).map(({ name }) => name)
  }

  async entries(folder: string): Promise<FtpEntry[]> {
    return (await this.#client.list(folder))
      .filter(({ isFile }) => isFile)
      .map(({ name, modifiedAt }) => ({ name, modifiedAt: modifiedAt?.getTime() ?? null }))
  }

  async upload(path: string, bytes: Buffer, { draft }: { draft?: string } = {}): Promise<void> {
    await this.#store(draft ?? path, bytes, { isOrder: draft === undefined })
    if (draft === undefined) return
    let isBegun = false
    try {
      this.#mayBegin()
      isBegun = true
      await this.#client.rename(draft, path)
    } catch (error) {
      // Where nothing may be written any more, it may be another node's draft by now.
      if (error instanceof FTPError) await this.#client.remove(draft, true).catch(() => {})
      throw new FtpFault(`${path} could not be named: ${reasonOf(error)}`, {
        sent: isBegun && !(error instanceof FTPError),
        cause: error,
      })
    }
  }

  /** `isOrder`: under this name the partner reads it, whole or not. */
  async #store(path: string, bytes: Buffer, { isOrder }: { isOrder: boolean }): Promise<void> {
    // Until the data connection is there, the server has heard of no file.
    let isBegun = false
    const prepare = this.#client.prepareTransfer
    this.#client.prepareTransfer = async (ftp) => {
      const reply = await prepare(ftp)
      this.#mayBegin()
      isBegun = true
      return reply
    }
    try {
      await this.#client.uploadFrom(Readable.from(this.#pieces(bytes)), path)
    } catch (error) {
      const isRefused = error instanceof FTPError && REFUSED.has(error.code)
      throw new FtpFault(`${path} could not be written: ${reasonOf(error)}`, {
        sent: isOrder && isBegun && !isRefused,
        cause: error,
      })
    }
  }

  /** Asked for once the connection for data is secure, and the server waits for what comes. */
  async *#pieces(bytes: Buffer): AsyncGenerator<Buffer, void> {
    this.#mayBegin()
    yield bytes
  }
}

/** Null where the server says that there is no such file. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof FTPError && error.code === NOT_THERE) return null
    throw error
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof FTPError && error.code === 530) return 'the login was refused'
  return error instanceof Error ? error.message : String(error)
}
