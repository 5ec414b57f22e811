/** Where a document's files lie: folders of this machine, FTP, FTPS and SFTP servers, HTTP. */
import { createReadStream, createWriteStream } from 'node:fs'
import { readdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FeedFault } from '../account-feed.js'
import { codeOf } from '../../core/errors.js'
import { putInPlace } from '../../core/storage/durable.js'
import type { FtpFiles } from '../session/ftp.js'
import { jsonOf, NoReply, streamOnce, textOf } from '../session/reply.js'
import { savePieces } from '../session/row-file.js'
import type { Session } from '../session/session.js'
import { workWithFiles } from '../session/work-with-files.js'
import type { Connection } from './schema.js'
import { withSftp } from './sftp.js'
import { fillSettings } from './template.js'

/** The hosts that a document's connections are at. */
export const hostsOf = (connections: Readonly<Record<string, Connection>>): string[] => [
  ...new Set(
    Object.values(connections).flatMap((one) =>
      one.kind === 'folder' ? [] : one.kind === 'http' ? new URL(one.url).hostname : one.host,
    ),
  ),
]

export type FilesConnection = Exclude<Connection, { kind: 'http' }>

/** Works with the files of a connection. Throws a NoReply. */
export async function withFiles<R>(
  session: Session,
  connection: FilesConnection,
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  const workRecorded = (files: FtpFiles) => work(session.recorded(files))
  if (connection.kind === 'folder') return inFolder(connection.path, workRecorded)
  const { kind, host } = connection
  const login = {
    user: fillSettings(connection.user, session.settings),
    password: fillSettings(connection.password, session.settings),
  }
  if (login.user === '' || login.password === '')
    throw new NoReply('the credentials are not configured', { mayHaveArrived: false })
  if (kind === 'sftp') return withSftp(session, { ...connection, ...login }, workRecorded)
  const server = { host, port: connection.port ?? 21, isSecure: kind === 'ftps' }
  return workWithFiles({ ...session, ftp: session.ftpOf(server) }, login, work)
}

/** Whoever else works in a folder may have taken a file since it was listed. */
function gone(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null
  throw error
}

/** A folder of this machine as if it were a server's. Nothing outside of it is read or written. */
async function inFolder<R>(root: string, work: (files: FtpFiles) => Promise<R>): Promise<R> {
  const top = await realpath(root).catch((error: unknown) => {
    throw new NoReply(`the folder ${root} cannot be read (${codeOf(error)})`, {
      mayHaveArrived: false,
    })
  })
  const within = (path: string) => {
    const at = resolve(top, path)
    if (at !== top && !at.startsWith(top + sep))
      throw new FeedFault(`${path} is outside of ${root}`)
    return at
  }
  /** What the machine refuses is told as a server would tell it. */
  const told = async <T>(path: string, step: (at: string) => Promise<T>): Promise<T> => {
    try {
      return await step(within(path))
    } catch (error) {
      if (error instanceof FeedFault || error instanceof NoReply) throw error
      throw new NoReply(`${path} in ${root} cannot be used (${codeOf(error)})`, {
        mayHaveArrived: false,
      })
    }
  }
  const ofFile = <T>(path: string, tell: (at: string) => Promise<T>): Promise<T | null> =>
    told(path, async (named) => {
      const at = await realpath(named).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null
        throw error
      })
      return at !== null && (at === top || at.startsWith(top + sep)) ? tell(at) : null
    })
  const entries: FtpFiles['entries'] = async (folder) =>
    (await ofFile(folder, async (at) => {
      const found = await readdir(at, { withFileTypes: true })
      const told = await Promise.all(
        found
          .filter((one) => one.isFile())
          .map(async ({ name }) => {
            const modifiedAt = await stat(join(at, name)).then(({ mtimeMs }) => mtimeMs, gone)
            return modifiedAt === null ? [] : [{ name, modifiedAt }]
          }),
      )
      return told.flat()
    })) ?? []
  const sizeOf = async (at: string) => (await stat(at)).size
  const checkSize = async (at: string, most: number, path: string) => {
    if ((await sizeOf(at)) > most) throw new FeedFault(`${path} is larger than ${most} bytes`)
  }
  return work({
    size: (path) => ofFile(path, sizeOf),
    modified: (path) => ofFile(path, async (at) => Math.floor((await stat(at)).mtimeMs)),
    read: (path, most) =>
      ofFile(path, async (at) => {
        await checkSize(at, most, path)
        return readFile(at)
      }),
    download: (path, to, most) =>
      ofFile(path, async (at) => {
        await checkSize(at, most, path)
        await pipeline(createReadStream(at), createWriteStream(to, { mode: 0o600 }))
        return sizeOf(to)
      }),
    names: async (folder) => (await entries(folder)).map(({ name }) => name),
    entries,
    upload: (path, bytes) =>
      told(path, async (at) => {
        // Nobody would read a folder that we made, and a link may lead out of ours.
        const folder = await realpath(dirname(at))
        within(folder)
        // Whoever reads the folder sees the whole file or none.
        const draft = join(folder, `.${basename(at)}.draft`)
        await writeFile(draft, bytes)
        await putInPlace(draft, join(folder, basename(at))).catch((error: unknown) => {
          // Once it has its name it may have been read.
          throw new NoReply(`${path} in ${root} may not be written (${codeOf(error)})`)
        })
      }),
  })
}

/** Brings a file by HTTP. Throws a NoReply, or a FeedFault for an answer that is no file. */
export async function fetchFile(
  session: Session,
  connection: Extract<Connection, { kind: 'http' }>,
  path: string,
  to: string,
): Promise<void> {
  await ask(session, connection, path, (pieces) => savePieces(to, pieces))
}

async function ask(
  session: Session,
  connection: Extract<Connection, { kind: 'http' }>,
  path: string,
  take: (pieces: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const { url } = connection
  const { stream } = session.api(url.endsWith('/') ? url : `${url}/`)
  const headers = {
    accept: '*/*',
    ...Object.fromEntries(
      Object.entries(connection.headers ?? {}).map(([name, value]) => [
        name,
        fillSettings(value, session.settings),
      ]),
    ),
    ...(await tokenOf(session, connection)),
  }
  const call = { method: 'GET', path: fillPath(path, session.settings), headers } as const
  const { status, isTaken } = await streamOnce(session, () =>
    stream({ ...call, answerTimeout: 300_000, stallTimeout: 60_000 }, take),
  )
  if (isTaken) return
  if (status === 401 || status === 403)
    throw new NoReply(`the login was refused (HTTP ${status})`, { isLoginRefused: true })
  throw new FeedFault(
    status === 200 ? 'the answer is a page in HTML' : `the answer is HTTP ${status}`,
  )
}

/** A value in a query is written as one, whatever it holds. */
const fillPath = (path: string, settings: Session['settings']): string =>
  path.replaceAll(/\{[\w.]+\}/g, (place) => encodeURIComponent(fillSettings(place, settings)))

async function tokenOf(
  session: Session,
  { url, oauth }: Extract<Connection, { kind: 'http' }>,
): Promise<Record<string, string>> {
  if (!oauth) return {}
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: fillSettings(oauth.clientId, session.settings),
    client_secret: fillSettings(oauth.clientSecret, session.settings),
  }).toString()
  const { http } = session.api(url.endsWith('/') ? url : `${url}/`)
  const answer = await http({
    method: 'POST',
    path: oauth.path,
    body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
  })
  if (answer.status === 400 || answer.status === 401)
    throw new NoReply('the login was refused', { mayHaveArrived: false, isLoginRefused: true })
  const token = textOf(jsonOf(answer)['access_token'])
  if (token === null) throw new NoReply('the answer has no access_token', { mayHaveArrived: false })
  session.hide(token)
  return { authorization: `Bearer ${token}` }
}

/**
 * Logs in, and does no more; by HTTP without a login of its own, the beginning of the file at `path`
 * is asked for. Throws a NoReply.
 */
export async function checkConnection(
  session: Session,
  connection: Connection,
  path: string | null,
): Promise<void> {
  if (connection.kind !== 'http') return withFiles(session, connection, async () => {})
  if (connection.oauth) return void (await tokenOf(session, connection))
  if (path !== null)
    await ask(session, connection, path, async (pieces) => {
      for await (const _ of pieces) return
    })
}

/** The path that is meant: where its last part has a `*`, that of the newest file which fits. */
export async function pathIn(files: FtpFiles, path: string): Promise<string> {
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
  const name = path.slice(folder === '' ? 0 : folder.length + 1)
  if (!name.includes('*')) return path
  const [newest] = (await files.entries(folder === '' ? '.' : folder))
    .filter((one) => fits(one.name, name))
    .toSorted((a, b) => (b.modifiedAt ?? 0) - (a.modifiedAt ?? 0) || (a.name < b.name ? 1 : -1))
  if (!newest) throw new FeedFault(`there is no file ${path}`)
  return folder === '' ? newest.name : `${folder}/${newest.name}`
}

/** One `*` stands for any characters. */
export function fits(name: string, pattern: string): boolean {
  const [before = '', after = ''] = pattern.split('*')
  if (!pattern.includes('*')) return name === pattern
  return (
    name.length >= before.length + after.length && name.startsWith(before) && name.endsWith(after)
  )
}
