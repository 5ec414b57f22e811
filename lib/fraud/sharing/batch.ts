/**
 * Batches, by which two installations that agreed on a key share signals: a file of hashes under
 * that key, sealed by it.
 *
 *     {"batch":1,"form":1,"made_at":1795262400000,"installation":"9f…"}
 *     {"dealer":"…","first":"2026-06-02","last":"2026-11-19","signals":[[1,"-812…"],[3,"77…"]]}
 *     {"reports":1,"seal":"…"}
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { figure } from '../../core/figures.js'
import { dayOf } from '../../core/clock.js'
import { codeOf, invalid, isApiError } from '../../core/errors.js'
import type { ApiError } from '../../core/errors.js'
import { FORM } from '../keys/keys.js'
import type { FraudKey } from '../keys/keys.js'
import { KINDS } from '../reports/kinds.js'
import type { Hashes } from '../reports/store.js'

const BATCH = 1
const NO_BATCH = 'is not a batch of signals; `fraud export` writes one'
/** Characters of a line: more than any report has. */
const LONGEST_LINE = 32_768
/** Signals of a report: 4 strong ones, names, an IP, and 50 items with their keys and names. */
const MOST_SIGNALS = 400
/** Reports of a batch. */
export const MOST_REPORTS = 1_000_000
/** No report is older, whatever a batch says. */
const FIRST_DAY = '2000-01-01'

export interface BatchReport {
  /** A pseudonym. */
  dealer: string
  /** Milliseconds, the starts of days. */
  first: number
  last: number
  hashes: Hashes
}

export interface Batch {
  /** Which installation wrote it. */
  sender: string
  made_at: number
  reports: number
  dealers: number
  /** Equal for equal files. */
  digest: string
}

/** Makes the lines of a batch: one for its head, one for each report, and one that seals them. */
export function batchWriter(key: FraudKey, { madeAt, sender }: { madeAt: number; sender: string }) {
  const sum = createHash('sha256')
  let reports = 0
  const line = (value: object) => {
    const text = JSON.stringify(value)
    sum.update(`${text}\n`)
    return text
  }
  // Days alone, and none after that of the batch: a report may come while it is written.
  const day = (at: number) => dayOf(Math.min(at, madeAt))
  return {
    head: () => line({ batch: BATCH, form: FORM, made_at: madeAt, installation: sender }),
    report({ dealer, first, last, hashes }: BatchReport): string {
      reports++
      return line({
        dealer,
        first: day(first),
        last: day(last),
        signals: hashes.map(([kind, hash]) => [kind, String(hash)]),
      })
    },
    seal: () => JSON.stringify({ reports, seal: sealOf(key, reports, sum.digest('hex')) }),
    count: () => reports,
  }
}

const sealOf = (key: FraudKey, reports: number, digest: string) =>
  key.digest('batch', `${reports} ${digest}`)

/**
 * Reads a batch from its first line to its seal, and gives each report to `take`, which must not
 * believe it before a reading to the end. Throws 400 where the file is not a batch, was changed, or
 * says what cannot be.
 */
export async function readBatch(
  path: string,
  key: FraudKey,
  {
    partner,
    take = async () => {},
  }: { partner: string; take?: (report: BatchReport) => Promise<void> },
): Promise<Batch> {
  const refuse = (why: string) => invalid('file', `${path} ${why}`)
  const { head, seal, fault, reports, dealers, digest } = await readLines(path, refuse, take)
  if (!head) throw refuse(NO_BATCH)
  if (!seal || seal.seal !== sealOf(key, Number(seal.reports), digest))
    throw refuse(
      'was cut off or changed, or sealed with another key than the one that is shared with ' +
        `${partner}: have it sent again, or compare the keys`,
    )
  if (head.form !== FORM)
    throw refuse(
      `was made by a release with other rules of spelling (${String(head.form)}, not ` +
        `${FORM}): both sides need the same`,
    )
  if (fault !== null) throw refuse(fault)
  if (reports !== seal.reports) throw refuse(`holds ${reports} reports, and says ${seal.reports}`)
  return { sender: head.installation, made_at: head.made_at, reports, dealers, digest }
}

/** What a batch holds, before its seal is believed. */
interface Contents {
  head: Head | null
  seal: Seal | null
  /** What the first report says that cannot be. */
  fault: string | null
  reports: number
  dealers: number
  /** Of all lines but the seal. */
  digest: string
}

async function readLines(
  path: string,
  refuse: (why: string) => ApiError,
  take: (report: BatchReport) => Promise<void>,
): Promise<Contents> {
  const sum = createHash('sha256')
  const dealers = new Set<string>()
  let head: Head | null = null
  let seal: Seal | null = null
  let fault: string | null = null
  let reports = 0
  try {
    for await (const line of linesOf(path)) {
      const value = objectOf(line)
      if (seal) throw refuse('goes on behind its seal; have it sent again')
      if (typeof value['seal'] === 'string') {
        seal = value as unknown as Seal
        continue
      }
      sum.update(`${line}\n`)
      if (!head) {
        head = headOf(value)
        continue
      }
      const report = reportOf(value, head)
      if (typeof report === 'string')
        fault ??=
          `says what cannot be: ${report} of report ${reports + 1}; the partner's release may ` +
          'be damaged or another one'
      else {
        dealers.add(report.dealer)
        await take(report)
      }
      if (++reports > MOST_REPORTS) throw refuse(`holds more than ${figure(MOST_REPORTS)} reports`)
    }
  } catch (error) {
    throw reasonOf(error, refuse)
  }
  return { head, seal, fault, reports, dealers: dealers.size, digest: sum.digest('hex') }
}

interface Head {
  form: unknown
  made_at: number
  installation: string
}

interface Seal {
  reports: number
  seal: string
}

/** The lines of a file; whoever sends one without end must not fill the memory. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > LONGEST_LINE || lines.some((line) => line.length > LONGEST_LINE))
      throw new SyntaxError('too long')
    for (const line of lines) yield line.replace(/\r$/, '')
  }
  if (rest !== '') yield rest
}

/** The object of a line. Throws a SyntaxError for a line that is none. */
function objectOf(line: string): Record<string, unknown> {
  const value = JSON.parse(line) as unknown
  if (typeof value !== 'object' || value === null) throw new SyntaxError('no object')
  return value as Record<string, unknown>
}

function headOf({ batch, form, made_at: madeAt, installation }: Record<string, unknown>): Head {
  const isHead =
    batch === BATCH &&
    Number.isSafeInteger(madeAt) &&
    dayIn(madeAt as number) !== null &&
    typeof installation === 'string' &&
    /^[0-9a-f]{32}$/.test(installation)
  if (!isHead) throw new SyntaxError('no head')
  return { form, made_at: madeAt as number, installation }
}

/** The day of a time; null where there is none. */
function dayIn(ms: number): string | null {
  return ms >= 0 && ms < Date.UTC(10_000, 0) ? dayOf(ms) : null
}

/** The report of a line, or which of its members cannot be. */
function reportOf(
  { dealer, first, last, signals }: Record<string, unknown>,
  { made_at: madeAt }: Head,
): BatchReport | string {
  if (typeof dealer !== 'string' || !/^[\w-]{1,64}$/.test(dealer)) return 'the dealer'
  if (!isDay(first) || !isDay(last) || first < FIRST_DAY || first > last || last > dayOf(madeAt))
    return 'the days'
  if (!Array.isArray(signals) || signals.length > MOST_SIGNALS) return 'the signals'
  const hashes = signals.flatMap((signal) => hashOf(signal) ?? [])
  const isWhole =
    hashes.length === signals.length &&
    new Set(hashes.map(([, hash]) => hash)).size === hashes.length &&
    hashes.some(([kind]) => kind <= KINDS.phone)
  return isWhole
    ? { dealer, first: Date.parse(first), last: Date.parse(last), hashes }
    : 'the signals'
}

function isDay(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2}$/.test(value) &&
    dayIn(Date.parse(value)) === value
  )
}

const KNOWN: readonly unknown[] = Object.values(KINDS)

function hashOf(signal: unknown): [kind: number, hash: bigint][] | null {
  const [kind, hash] = Array.isArray(signal) ? (signal as unknown[]) : []
  if (
    !KNOWN.includes(kind) ||
    typeof hash !== 'string' ||
    !/^-?\d{1,19}$/.test(hash) ||
    BigInt.asIntN(64, BigInt(hash)) !== BigInt(hash)
  )
    return null
  return [[kind as number, BigInt(hash)]]
}

function reasonOf(error: unknown, refuse: (why: string) => Error): unknown {
  if (error instanceof SyntaxError) return refuse(NO_BATCH)
  const code = codeOf(error)
  if (isApiError(error) || !/^E[A-Z]+$/.test(code)) return error
  return refuse(code === 'ENOENT' ? 'is not there' : `cannot be read (${code})`)
}
