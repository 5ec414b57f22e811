/** RSR's FTPS server: an inbox for orders, and an outbox of answers that may not be listed. */
import type { FtpFiles, FtpServer } from '../../session/ftp.js'
import { NoReply } from '../../session/reply.js'
import type { Session } from '../../session/session.js'
import { workWithFiles } from '../../session/work-with-files.js'
import type { Account } from './accounts.js'
import { readAnswerFile } from './answer-files.js'
import type { AnswerFile } from './answer-files.js'

export const SERVER: FtpServer = { host: 'ftps.rsrgroup.com', port: 2222, isSecure: true }
export const INBOX = 'eo/incoming'
export const OUTBOX = 'eo/outgoing'

/** An answer with what its name says: `ECONF-RSRGP-99901-20261122-0007.txt`. */
export interface Answer {
  readonly account: string
  /** `YYYYMMDD` in New York. */
  readonly day: string
  /** `99901-20261122-0007`: of the order's file, where RSR numbers its answers so. */
  readonly file: string
  readonly content: AnswerFile
}

/** Bytes of an answer. */
const LARGEST = 4 * 1_048_576
const NAME = /^(?:EERR|ECONF|ESHIP)-RSRGP-((\d{5})-(\d{8})-\d{4})\.txt$/
const KINDS = ['EERR', 'ECONF', 'ESHIP'] as const
/** Replies to a list that say that this account may not have one. */
const NOT_LISTED = new Set([500, 502, 550, 553])

/** Works with the files of an account. Throws a NoReply, whose `mayHaveArrived` is about an upload. */
export async function withFiles<R>(
  session: Session,
  { user, filePassword }: Account,
  work: (files: FtpFiles) => Promise<R>,
): Promise<R> {
  if (filePassword === null)
    throw new NoReply('the account has no password for files', { mayHaveArrived: false })
  return workWithFiles(session, { user, password: filePassword }, work)
}

/** The names of the answers to an order's file, as an account asks for them that may list nothing. */
export const answersTo = (file: string): string[] =>
  KINDS.map((kind) => `${kind}-RSRGP-${file}.txt`)

/**
 * The answers of these days and later, the oldest first; where the account may not list them, those
 * of `asked`. What is cut off is not among them: it is written yet.
 */
export async function readAnswers(
  files: FtpFiles,
  { since, asked }: { since: string; asked: readonly string[] },
): Promise<Answer[]> {
  const listed = await namesIn(files)
  const answers: Answer[] = []
  for (const name of (listed ?? asked).toSorted((a, b) => keyOf(a) - keyOf(b))) {
    const [, file, account, day] = NAME.exec(name) ?? []
    if (file === undefined || day! < since) continue
    const bytes = await files.read(`${OUTBOX}/${name}`, LARGEST)
    const content = bytes && readAnswerFile(name, bytes.toString('latin1'))
    if (content && content.kind !== 'incomplete')
      answers.push({ account: account!, day: day!, file, content })
  }
  return answers
}

/** By day, and on a day as they follow from each other. */
function keyOf(name: string): number {
  const [, , , day = '0'] = NAME.exec(name) ?? []
  return Number(day) * 10 + KINDS.findIndex((kind) => name.startsWith(kind))
}

async function namesIn(files: FtpFiles): Promise<string[] | null> {
  try {
    return await files.names(OUTBOX)
  } catch (error) {
    if (NOT_LISTED.has(replyCode(error))) return null
    throw error
  }
}

const replyCode = (error: unknown): number =>
  typeof error === 'object' && error !== null && 'code' in error ? Number(error.code) : 0
