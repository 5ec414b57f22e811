/** One client's conversation with a simulated FTP server: commands, and a data connection for each file. */
import { createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { posix } from 'node:path'
import { TLSSocket } from 'node:tls'
import { SECOND } from '../../core/clock.js'
import type { FaultName } from '../engine/scenarios/fault-table.js'
import type { ListenOptions } from '../engine/world.js'
import type { Visit } from './http-simulator.js'

/** What a client does to a file or folder; a path begins with a slash. */
export type FtpAct =
  | { readonly kind: 'store'; readonly path: string; readonly body: Buffer }
  | { readonly kind: 'retrieve' | 'size' | 'list'; readonly path: string }

/** `refused`: with a reply of that code, before any data. */
export type FtpAnswer =
  | { readonly file: Buffer; readonly modifiedAt?: number }
  | { readonly names: readonly string[]; readonly modifiedAt?: (name: string) => number }
  | { readonly stored: true }
  | { readonly refused: number; readonly text: string }

export interface FtpHandled {
  readonly answer: FtpAnswer
  readonly fault?: FaultName | null
}

export interface FtpHost {
  readonly tls: ListenOptions['tls']
  /** Has a connection closed with the server. */
  keep(socket: Socket): void
  logIn(user: string, password: string): boolean
  answer(user: string, act: FtpAct): FtpHandled
  visitOf(user: string): Visit | null
  failed(error: unknown): void
}

/** A larger file is cut off. */
const LARGEST = 4 * 1_048_576
/** Bytes of one line of commands. */
const LONGEST_LINE = 4_096
const SLOW = 3 * SECOND
const FEATURES = [
  'AUTH TLS',
  'EPSV',
  'MDTM',
  'MLST type*;size*;modify*;',
  'PASV',
  'PBSZ',
  'PROT',
  'SIZE',
  'UTF8',
]

export class FtpConversation {
  readonly #host: FtpHost
  #control: Socket
  #user = ''
  #isIn = false
  #folder = '/'
  #isPrivate = false
  #listener: Server | undefined
  #data: Promise<Socket> | undefined
  #pending = ''
  #turn: Promise<void> = Promise.resolve()

  constructor(socket: Socket, host: FtpHost) {
    this.#control = socket
    this.#host = host
  }

  begin(): void {
    this.#listen()
    this.#reply(220, 'Simulator ready')
  }

  /** Commands are taken in turn, also those that come in one piece. */
  #listen(): void {
    this.#control.on('data', (piece: Buffer) => {
      this.#pending += piece.toString('utf8')
      if (this.#pending.length > LONGEST_LINE) return void this.#control.destroy()
      for (let end = this.#pending.indexOf('\n'); end >= 0; end = this.#pending.indexOf('\n')) {
        const line = this.#pending.slice(0, end).replace(/\r$/, '')
        this.#pending = this.#pending.slice(end + 1)
        this.#turn = this.#turn
          .then(() => this.#obey(line))
          .catch((error: unknown) => {
            this.#host.failed(error)
            this.#control.destroy()
          })
      }
    })
    this.#control.once('close', () => this.#listener?.close())
  }

  #reply(code: number, text: string): void {
    if (this.#control.writable) this.#control.write(`${code} ${text}\r\n`)
  }

  async #obey(line: string): Promise<void> {
    const [, name = '', given = ''] = /^(\S+)\s?(.*)$/.exec(line) ?? []
    const command = name.toUpperCase()
    switch (command) {
      case 'AUTH':
        return this.#secure()
      case 'PBSZ':
        return this.#reply(200, 'PBSZ=0')
      case 'PROT':
        this.#isPrivate = given.toUpperCase() === 'P'
        return this.#reply(200, 'Done')
      case 'USER':
        this.#user = given
        this.#isIn = false
        return this.#reply(331, 'Password required')
      case 'PASS':
        this.#isIn = this.#host.logIn(this.#user, given)
        return this.#isIn ? this.#reply(230, 'Logged in') : this.#reply(530, 'Login incorrect')
      case 'FEAT':
        if (this.#control.writable)
          this.#control.write(
            `211-Features\r\n${FEATURES.map((one) => ` ${one}\r\n`).join('')}211 End\r\n`,
          )
        return
      case 'SYST':
        return this.#reply(215, 'UNIX Type: L8')
      case 'TYPE':
      case 'STRU':
      case 'MODE':
      case 'OPTS':
      case 'NOOP':
        return this.#reply(200, 'Done')
      case 'QUIT':
        this.#reply(221, 'Goodbye')
        return void this.#control.end()
    }
    if (!this.#isIn) return this.#reply(530, 'Please log in')
    return this.#obeyUser(command, given)
  }

  async #obeyUser(command: string, given: string): Promise<void> {
    const path = posix.resolve(this.#folder, given)
    switch (command) {
      case 'PWD':
        return this.#reply(257, `"${this.#folder}"`)
      case 'CWD':
        this.#folder = path
        return this.#reply(250, 'Done')
      case 'EPSV':
      case 'PASV':
        return this.#openData(command)
      case 'MDTM':
        return this.#modified(path)
      case 'SIZE':
        return this.#size(path)
      case 'RETR':
        return this.#send({ kind: 'retrieve', path }, ({ answer }) =>
          'file' in answer ? answer.file : null,
        )
      case 'NLST':
      case 'LIST':
      case 'MLSD':
        // `LIST -a` is what some clients say.
        return this.#send(
          { kind: 'list', path: posix.resolve(this.#folder, given.replace(/^-\S+\s*/, '')) },
          ({ answer }) => ('names' in answer ? listOf(command, answer) : null),
        )
      case 'STOR':
        return this.#receive(path)
      default:
        return this.#reply(502, 'Not implemented')
    }
  }

  #secure(): void {
    const { tls } = this.#host
    if (!tls) return this.#reply(502, 'No TLS here')
    this.#reply(234, 'TLS follows')
    this.#control.removeAllListeners('data')
    this.#control = this.#encrypted(this.#control)
    this.#listen()
  }

  #encrypted(socket: Socket): Socket {
    const { certificate: cert, key } = this.#host.tls!
    const secured = new TLSSocket(socket, { isServer: true, cert, key })
    this.#host.keep(secured)
    return secured
  }

  /** One connection for data, at a port that the system chooses. */
  async #openData(command: string): Promise<void> {
    this.#listener?.close()
    const listener = createServer()
    this.#listener = listener
    this.#data = new Promise((resolve) => {
      listener.once('connection', (socket) => {
        this.#host.keep(socket)
        listener.close()
        resolve(this.#isPrivate ? this.#encrypted(socket) : socket)
      })
    })
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject).listen(0, '127.0.0.1', resolve)
    })
    listener.unref()
    const { port } = listener.address() as AddressInfo
    if (this.#host.visitOf(this.#user)?.refusesData) listener.close()
    if (command === 'EPSV') this.#reply(229, `Entering Extended Passive Mode (|||${port}|)`)
    else this.#reply(227, `Entering Passive Mode (127,0,0,1,${port >> 8},${port & 0xff})`)
  }

  #size(path: string): void {
    const { answer } = this.#host.answer(this.#user, { kind: 'size', path })
    if ('file' in answer) this.#reply(213, String(answer.file.length))
    else this.#refuse(answer)
  }

  #modified(path: string): void {
    const { answer } = this.#host.answer(this.#user, { kind: 'size', path })
    const at = 'file' in answer ? answer.modifiedAt : undefined
    if (at === undefined) return this.#refuse(answer)
    this.#reply(213, stamp(at))
  }

  #refuse(answer: FtpAnswer): void {
    if ('refused' in answer) this.#reply(answer.refused, answer.text)
    else this.#reply(550, 'No such file')
  }

  async #send(act: FtpAct, bytesOf: (handled: FtpHandled) => Buffer | null): Promise<void> {
    const handled = this.#host.answer(this.#user, act)
    if (await this.#breaksOff(handled.fault ?? null)) return
    const bytes = bytesOf(handled)
    if (bytes === null) return this.#refuse(handled.answer)
    const data = await this.#transfer()
    if (!data) return
    const isCut = handled.fault === 'cut'
    await new Promise<void>((resolve) => {
      data.once('close', resolve)
      data.end(isCut ? bytes.subarray(0, bytes.length / 2) : bytes)
    })
    if (isCut) this.#control.destroy()
    else this.#reply(226, 'Transfer complete')
  }

  async #receive(path: string): Promise<void> {
    const data = await this.#transfer()
    if (!data) return
    const pieces: Buffer[] = []
    let bytes = 0
    for await (const piece of data as AsyncIterable<Buffer>) {
      bytes += piece.length
      pieces.push(piece)
      if (bytes > LARGEST) return void this.#control.destroy()
    }
    const act = { kind: 'store', path, body: Buffer.concat(pieces) } as const
    const { answer, fault = null } = this.#host.answer(this.#user, act)
    if (await this.#breaksOff(fault)) return
    if (fault === 'cut') return void this.#control.destroy()
    if ('stored' in answer) this.#reply(226, 'Transfer complete')
    else this.#refuse(answer)
  }

  /** The connection for data, with its beginning announced; null where none was asked for. */
  async #transfer(): Promise<Socket | null> {
    if (!this.#data) {
      this.#reply(425, 'Use PASV first')
      return null
    }
    this.#reply(150, 'Opening data connection')
    const data = await this.#data
    this.#data = undefined
    return data
  }

  /** Plays what goes wrong; false where the answer is to follow all the same. */
  async #breaksOff(fault: FaultName | null): Promise<boolean> {
    switch (fault) {
      case null:
      case 'gzip':
      case 'drip':
      case 'byte_order_mark':
      case 'no_length':
      case 'informational':
      // Cut off once it is on its way.
      case 'cut':
        return false
      case 'rate_limited':
      case 'rate_limited_untold':
        this.#reply(550, 'Too many requests, try again later')
        return true
      case 'error_before':
      case 'error_after':
      case 'redirect':
      case 'bad_gateway':
      case 'gateway_timeout':
      case 'maintenance':
        this.#reply(451, 'Local error in processing')
        return true
      case 'timeout':
      case 'timeout_after':
      case 'late':
        this.#host.visitOf(this.#user)?.timeOut()
        return true
      case 'slow':
        await new Promise((resolve) => {
          setTimeout(resolve, SLOW).unref()
        })
        return false
      case 'hang':
        return true
      case 'garbage':
      case 'html':
      case 'unreachable':
      case 'certificate':
      case 'passive_refused':
      case 'half_file':
      case 'empty':
      case 'not_http':
      case 'too_large':
      case 'reset_body':
      case 'reset_before':
      case 'reset_after':
        this.#control.destroy()
        return true
    }
  }
}

function listOf(
  command: string,
  { names, modifiedAt }: Extract<FtpAnswer, { names: readonly string[] }>,
): Buffer {
  const line = (name: string) =>
    command === 'MLSD'
      ? `type=file;size=0;${modifiedAt ? `modify=${stamp(modifiedAt(name))};` : ''} ${name}`
      : command === 'LIST'
        ? `-rw-r--r--   1 rsr      rsr             0 Jan  1 00:00 ${name}`
        : name
  return Buffer.from(names.map((name) => `${line(name)}\r\n`).join(''))
}

/** `YYYYMMDDHHMMSS`, as RFC 3659 has it. */
const stamp = (at: number) => new Date(at).toISOString().replace(/\..*$/, '').replaceAll(/\D/g, '')
