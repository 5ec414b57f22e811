/** The calls of a session with the beginnings of their answers, to be told to somebody else. */
import { open } from 'node:fs/promises'
import type { FtpFiles } from '../../distributors/session/ftp.js'
import type { HttpAnswer } from '../../distributors/session/http.js'
import type { CallApi, CallFtp, Session, StreamApi } from '../../distributors/session/session.js'

/** One call, and the beginning of what came back. */
export interface TapedCall {
  /** Of HTTP, or the command of FTP. */
  readonly method: string
  /** Without its query, which may hold credentials; a `method` in it stays. */
  readonly path: string
  /** Of HTTP; null of FTP. */
  readonly status: number | null
  readonly contentType: string | null
  /** Null where there is no such file, or no answer. */
  readonly body: string | null
  /** The body goes on behind it. */
  readonly isCut: boolean
}

/**
 * Characters at the end of a body that was cut, to be dropped once secrets are hidden: one of them
 * may have been cut in half.
 */
export const MARGIN = 4_096
/** Bytes of an answer that are kept. */
const HEAD = 24_576 + MARGIN
/** Calls of one path that are kept: the first, and the last one. */
const ENDS = 2

export class Tape {
  /** What was recorded, in its order. */
  readonly calls: TapedCall[] = []

  /** The same session, recorded. */
  wrap(session: Session): Session {
    return {
      ...session,
      http: this.#http(session.http),
      httpAt: (...to) => this.#http(session.httpAt(...to)),
      stream: this.#stream(session.stream),
      streamAt: (...to) => this.#stream(session.streamAt(...to)),
      streamFrom: (call, take) =>
        this.#stream((one, taken) => session.streamFrom({ ...one, url: one.path }, taken))(
          { ...call, method: 'GET', path: call.url },
          take,
        ),
      api: (address) => {
        const { http, stream } = session.api(address)
        return { http: this.#http(http), stream: this.#stream(stream) }
      },
      ftpOf: (server) => this.#ftp(session.ftpOf(server)),
      ftp: this.#ftp(session.ftp),
      ftpAt: (...to) => this.#ftp(session.ftpAt(...to)),
    }
  }

  #http(make: CallApi): CallApi {
    return async (call) => {
      const answer = await make(call)
      this.#keep(call, answer, answer.body)
      return answer
    }
  }

  #stream(make: StreamApi): StreamApi {
    return async (call, take) => {
      const head: Buffer[] = []
      let kept = 0
      const answer = await make(call, (pieces, headers) =>
        take(
          (async function* () {
            for await (const piece of pieces) {
              if (kept <= HEAD) head.push(piece)
              kept += piece.length
              yield piece
            }
          })(),
          headers,
        ),
      )
      this.#keep(call, answer, answer.isTaken ? Buffer.concat(head) : answer.body)
      return answer
    }
  }

  #keep(
    { method, path }: { method: string; path: string },
    { status, headers }: Omit<HttpAnswer, 'body'>,
    body: Buffer,
  ): void {
    const contentType = headers.get('content-type') ?? null
    this.#add({ method, path: pathOf(path), status, contentType, ...headOf(body) })
  }

  /** A feed may have thousands of pages. */
  #add(call: TapedCall): void {
    const ofPath = this.calls.filter(
      ({ method, path }) => method === call.method && path === call.path,
    )
    if (ofPath.length === ENDS) this.calls.splice(this.calls.indexOf(ofPath.at(-1)!), 1)
    this.calls.push(call)
  }

  #ftp(make: CallFtp): CallFtp {
    return (login, work) => make(login, (files) => work(this.#files(files)))
  }

  #files(files: FtpFiles): FtpFiles {
    const keep = (method: string, path: string, body: Buffer | string | null) =>
      this.#add({
        method,
        path,
        status: null,
        contentType: null,
        ...(body === null ? { body, isCut: false } : headOf(Buffer.from(body))),
      })
    const told = async <R>(method: string, path: string, ask: () => Promise<R>) => {
      const answer = await ask()
      keep(method, path, answer === null ? null : String(answer))
      return answer
    }
    return {
      ...files,
      size: (path) => told('SIZE', path, () => files.size(path)),
      modified: (path) => told('MDTM', path, () => files.modified(path)),
      names: async (folder) => {
        const names = await files.names(folder)
        keep('NLST', folder, names.join('\n'))
        return names
      },
      entries: async (folder) => {
        const entries = await files.entries(folder)
        keep('LIST', folder, JSON.stringify(entries))
        return entries
      },
      read: async (path, maxBytes) => {
        const body = await files.read(path, maxBytes)
        keep('RETR', path, body)
        return body
      },
      download: async (path, to, maxBytes) => {
        const bytes = await files.download(path, to, maxBytes)
        keep('RETR', path, bytes === null ? null : await beginningOf(to))
        return bytes
      },
    }
  }
}

/** In place of an address that the distributor named, which is as good as a login. */
export const NAMED = '(the address that was named)'

/** Without a query, but for what names one of several calls at one address. */
export function pathOf(path: string): string {
  if (/^https?:/.test(path)) return NAMED
  const [method = ''] = /\?method=\w+/.exec(path) ?? []
  return path.split('?')[0]! + method
}

function headOf(body: Buffer): Pick<TapedCall, 'body' | 'isCut'> {
  const head = body.subarray(0, HEAD)
  return { body: textOf(head), isCut: body.length > HEAD }
}

/** Older files are in an encoding of one byte; a cut may go through a character. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.slice(0, -1).includes('\uFFFD')
    ? bytes.toString('latin1')
    : text.replace(/\uFFFD$/, '')
}

async function beginningOf(file: string): Promise<Buffer> {
  await using handle = await open(file)
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD + 1), 0, HEAD + 1, 0)
  return buffer.subarray(0, bytesRead)
}
