/** A feed that lies on a distributor's FTP server as a file. */
import { FTPError } from 'basic-ftp'
import { MINUTE } from '../../core/clock.js'
import { FeedFault } from '../account-feed.js'
import type { FeedBrought, FeedWanted } from '../account-feed.js'
import type { FtpFiles } from './ftp.js'

/** Bytes of a file; the largest inventory that is known had 11 MB. */
const LARGEST = 512 * 1_048_576
/** Replies of a server that does not have a command. */
const UNKNOWN_COMMAND = new Set([500, 502, 504])
/** Milliseconds until the second in which a file was changed is surely over. */
const SETTLED = MINUTE

/** What a server tells of a file. */
interface FileState {
  /** Bytes. */
  readonly size: number | null
  /** Milliseconds since 1970. */
  readonly changed: number | null
}

/**
 * Brings a file as it is, unless it is the one that was taken in last. Some accounts may not list:
 * it is asked for by its name. Throws a FeedFault.
 */
export async function bringFile(
  files: FtpFiles,
  now: () => number,
  { file, mark: last }: Pick<FeedWanted, 'file' | 'mark'>,
  path: string,
): Promise<FeedBrought> {
  const state = await stateOf(files, path)
  const { changed } = state
  const mark = markOf(state)
  if (mark !== null && mark === last) return { outcome: 'unchanged', asOf: changed!, mark }
  const isSame = await downloadWhole(files, path, file, state)
  return {
    outcome: 'written',
    ...(changed !== null && { asOf: changed }),
    ...(mark !== null && isSame && isSettled(state, now()) && { mark }),
  }
}

export async function stateOf(files: FtpFiles, path: string): Promise<FileState> {
  return { size: await sizeOf(files, path), changed: await files.modified(path) }
}

/** Names the file as the server has it; null where the server does not tell enough. */
export const markOf = ({ size, changed }: FileState): string | null =>
  size !== null && changed !== null ? `${size} ${changed}` : null

/** Whether another change would have another time. */
export const isSettled = ({ changed }: FileState, now: number): boolean =>
  changed !== null && now - changed > SETTLED

/**
 * Downloads a file that was looked at before, and tells whether it is still the one that was
 * looked at. Throws a FeedFault where there is none, or where only a part of it came.
 */
export async function downloadWhole(
  files: FtpFiles,
  path: string,
  to: string,
  { size, changed }: FileState,
): Promise<boolean> {
  const bytes = await files.download(path, to, LARGEST)
  if (bytes === null) throw new FeedFault(`there is no ${path}, or the account may not read it`)
  // A server may end a transfer as if it were whole.
  if (size !== null && bytes < size && (await sizeOf(files, path)) === size)
    throw new FeedFault(`${path} was cut off after ${bytes} of ${size} bytes`)
  return bytes === size && changed !== null && (await files.modified(path)) === changed
}

/** Null also where the server does not know the command. */
export async function sizeOf(files: FtpFiles, path: string): Promise<number | null> {
  try {
    return await files.size(path)
  } catch (error) {
    if (error instanceof FTPError && UNKNOWN_COMMAND.has(error.code)) return null
    throw error
  }
}
