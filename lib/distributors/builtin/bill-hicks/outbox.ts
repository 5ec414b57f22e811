/** The folder of answers: which of its files are read, and what they tell. */
import { DAY, MINUTE } from '../../../core/clock.js'
import type { OpenOrder } from '../../fulfillment.js'
import type { FtpEntry, FtpFiles } from '../../session/ftp.js'
import { readAnswers } from './answer-files.js'
import type { Answer } from './answer-files.js'

/** What one order's answer tells, with when its file was written, milliseconds; null if unknown. */
export interface DatedAnswer extends Answer {
  readonly modifiedAt: number | null
}

/** Bytes of an answer. */
const LARGEST = 4 * 1_048_576
/** A file that was changed so long ago is written by nobody any more, milliseconds. */
const SETTLED = MINUTE
/** Older files that are looked into for what was ordered of an order that is shipped late. */
const MOST_BACK = 300

/** Every text of the folder, the oldest first; those without a time are taken for new. */
export async function listAnswers(files: FtpFiles, folder: string): Promise<FtpEntry[]> {
  const listed: FtpEntry[] = []
  for (const { name, modifiedAt } of await files.entries(folder)) {
    if (!/\.txt$/i.test(name)) continue
    const path = `${folder}/${name}`
    listed.push({ name: path, modifiedAt: modifiedAt ?? (await files.modified(path)) })
  }
  return listed.toSorted(
    (a, b) => (a.modifiedAt ?? Infinity) - (b.modifiedAt ?? Infinity) || (a.name < b.name ? -1 : 1),
  )
}

/** The orders that the files of a list tell of, those files that were changed from `since` on. */
export async function answersSince(
  files: FtpFiles,
  listed: readonly FtpEntry[],
  { since, now }: { since: number; now: number },
): Promise<DatedAnswer[]> {
  const answers: DatedAnswer[] = []
  for (const { name, modifiedAt } of listed) {
    if ((modifiedAt ?? Infinity) < since) continue
    const bytes = await files.read(name, LARGEST)
    const isSettled = modifiedAt !== null && now - modifiedAt > SETTLED
    const told = bytes && readAnswers(bytes.toString('latin1'), isSettled)
    answers.push(...(told ?? []).map((one) => ({ ...one, modifiedAt })))
  }
  return answers
}

/**
 * The answers since a time, and those of before that belong to an order that is shipped only now:
 * what was ordered, and what left earlier, tells whether it is shipped as a whole.
 */
export async function answersTo(
  files: FtpFiles,
  folder: string,
  { open, since, now }: { open: readonly OpenOrder[]; since: number; now: number },
): Promise<DatedAnswer[]> {
  const listed = await listAnswers(files, folder)
  const oldest = Math.min(...open.map(({ placedAt }) => placedAt))
  const from = open.length > 0 ? Math.max(since, oldest - DAY) : since
  const recent = await answersSince(files, listed, { since: from, now })
  const shipped = new Set(recent.filter(({ kind }) => kind === 'asn').map(({ po }) => fold(po)))
  const late = open.filter(({ po, placedAt }) => shipped.has(fold(po)) && placedAt < from)
  if (late.length === 0) return recent
  const back = Math.min(...late.map(({ placedAt }) => placedAt)) - DAY
  const older = listed
    .filter(({ modifiedAt }) => modifiedAt !== null && modifiedAt >= back && modifiedAt < from)
    .slice(-MOST_BACK)
  return [...(await answersSince(files, older, { since: back, now })), ...recent]
}

const fold = (po: string) => po.toUpperCase()
