/**
 * SFTP, by a package that is installed for it alone (`ssh2-sftp-client`): most shops need none, and
 * what it stands on has native parts.
 */
import { codeOf } from '../../core/errors.js'
import type { FtpFiles } from '../session/ftp.js'
import { NoReply } from '../session/reply.js'
import type { Session } from '../session/session.js'

const PACKAGE = 'ssh2-sftp-client'
/** Milliseconds until the server has answered. */
const READY = 30_000

/** What of the package is used. */
interface SftpClient {
  connect(options: Record<string, unknown>): Promise<unknown>
  stat(path: string): Promise<{ size: number; modifyTime: number }>
  get(path: string, to?: string): Promise<unknown>
  put(bytes: Buffer, path: string): Promise<unknown>
  list(path: string): Promise<{ type: string; name: string; modifyTime: number }[]>
  end(): Promise<unknown>
}

interface Login {
  readonly host: string
  readonly port?: number | undefined
  readonly user: string
  readonly password: string
  /** `SHA256:` and the Base64 of the host's key. */
  readonly hostKey: string
}

/** Logs in at a host with the known key, works, and ends the connection. Throws a NoReply. */
export async function withSftp<R>(
  session: Session,
  { host, port = 22, user, password, hostKey }: Login,
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  const gate = session.login(user, password)
  const shut = gate.reason()
  if (shut !== null) throw new NoReply(shut, { mayHaveArrived: false })
  const Client = await load()
  const client = new Client()
  const state = { isUploading: false }
  let shown = ''
  const stop = () => void client.end().catch(() => {})
  try {
    const sock = await session.connect(host, port)
    session.signal.addEventListener('abort', stop, { once: true })
    await client.connect({
      sock,
      username: user,
      password,
      readyTimeout: READY,
      hostHash: 'sha256',
      hostVerifier: (hash: string) => {
        shown = `SHA256:${Buffer.from(hash, 'hex').toString('base64').replace(/=+$/, '')}`
        return shown === hostKey
      },
    })
    gate.accepted()
    return await work(filesOf(client, state))
  } catch (error) {
    session.signal.throwIfAborted()
    if (error instanceof NoReply) throw error
    const text = error instanceof Error ? error.message : String(error)
    if (shown !== '' && shown !== hostKey)
      throw new NoReply(`${host} shows the key ${shown}, and the document names ${hostKey}`, {
        mayHaveArrived: false,
      })
    const isLoginRefused = /authentication/i.test(text)
    if (isLoginRefused) gate.refused()
    throw new NoReply(isLoginRefused ? 'the login was refused' : `SFTP: ${text}`, {
      mayHaveArrived: state.isUploading,
      isLoginRefused,
    })
  } finally {
    session.signal.removeEventListener('abort', stop)
    await client.end().catch(() => {})
  }
}

async function load(): Promise<new () => SftpClient> {
  try {
    const loaded = (await import(PACKAGE)) as { default: new () => SftpClient }
    return loaded.default
  } catch {
    throw new NoReply(
      `SFTP needs the package ${PACKAGE}: install it beside the server with npm install ${PACKAGE}`,
      { mayHaveArrived: false },
    )
  }
}

function filesOf(client: SftpClient, state: { isUploading: boolean }): FtpFiles {
  const orNull = async <T>(work: Promise<T>): Promise<T | null> => {
    try {
      return await work
    } catch (error) {
      // 2 is SFTP's own number for a file that is not there.
      if (['ENOENT', '2', 'ERR_BAD_PATH'].includes(String(codeOf(error)))) return null
      throw error
    }
  }
  const sizeOf = async (path: string) => (await orNull(client.stat(path)))?.size ?? null
  const checked = async (path: string, most: number) => {
    const size = await sizeOf(path)
    if (size !== null && size > most)
      throw new NoReply(`${path} is larger than ${most} bytes`, { mayHaveArrived: false })
    return size
  }
  const entries: FtpFiles['entries'] = async (folder) =>
    (await client.list(folder))
      .filter(({ type }) => type === '-')
      .map(({ name, modifyTime }) => ({ name, modifiedAt: modifyTime }))
  return {
    size: sizeOf,
    modified: async (path) => (await orNull(client.stat(path)))?.modifyTime ?? null,
    read: async (path, most) =>
      (await checked(path, most)) === null ? null : ((await client.get(path)) as Buffer),
    download: async (path, to, most) => {
      const size = await checked(path, most)
      if (size !== null) await client.get(path, to)
      return size
    },
    names: async (folder) => (await entries(folder)).map(({ name }) => name),
    entries,
    upload: async (path, bytes) => {
      state.isUploading = true
      await client.put(bytes, path)
      state.isUploading = false
    },
  }
}
