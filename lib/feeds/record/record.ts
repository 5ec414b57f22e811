/**
 * Records what a distributor answers an account: its credential check, and the beginning of a feed.
 * That is how a connector that nobody could try with a live account is tried with one: what is
 * recorded tells neither the account nor its prices, and is replayed by our tests.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deadlineIn } from '../../core/async/wait.js'
import { invalid, kindOf } from '../../core/errors.js'
import { askAboutCredentials } from '../../configuration/credentials.js'
import type { Mode } from '../../db/tables/column-types.js'
import { isBlank } from '../../distributors/distributor.js'
import type { CheckOutcome, Distributor } from '../../distributors/distributor.js'
import type { Preset } from '../../distributors/generic/generic.js'
import { hidingSecrets } from '../../distributors/session/redact.js'
import type { Session } from '../../distributors/session/session.js'
import { accountOf, heldUntil, hold, PATIENCE, reasonOf, secretsOf, sessionOf } from '../account.js'
import type { FeedAccount } from '../account.js'
import { checkFeed } from '../check.js'
import type { FeedsCtx } from '../ctx.js'
import { choosePreset } from '../source.js'
import { cutToRows } from './cut.js'
import { replaySession } from './replay.js'
import { withoutPerson, withoutPrices } from './scrub.js'
import { MARGIN, Tape } from './tape.js'
import type { TapedCall } from './tape.js'

/** How a file was read. */
export interface ReadCounts {
  rows: number
  rejected: number
  /**
   * Why rows were rejected, and how many for each reason, of the first 1,000; why the file was none
   * at all.
   */
  reasons: Record<string, number>
}

export interface RecordedFeed {
  preset: string
  calls: TapedCall[]
  /** Of the whole feed, as it was then; null where it did not come. */
  whole: ReadCounts | null
  /** Of what is recorded of it, as this release reads that. */
  head: ReadCounts | null
  /** Why one of the two is null. */
  fault: string | null
}

/** What is written to a file and sent to us. Nothing in it tells the account. */
export interface Recording {
  recording: 1
  distid: string
  mode: Mode
  /** RFC 3339. */
  recorded_at: string
  /** Those that were set; of text there stands something else. */
  settings: Record<string, unknown>
  check: { outcome: CheckOutcome; calls: TapedCall[] }
  feed: RecordedFeed | null
}

export interface RecordInput {
  distid: string
  /** Name or id. */
  subscriber: string
  /** The preset of the feed; the whole catalog by default. */
  preset?: string | undefined
}

/**
 * Asks with the account that the subscriber has saved, in the mode that its orders go in. Nothing
 * is ordered, and the catalog stays as it is. Throws 400 for a distributor that cannot be asked, a
 * FeedFault where the subscriber has no account there.
 */
export async function recordDistributor(
  ctx: FeedsCtx,
  { distid, subscriber, preset }: RecordInput,
): Promise<Recording> {
  const distributor = ctx.distributors.byDistid(distid)
  if (!distributor) throw invalid('distid', `"${distid}" is not a distributor`)
  const known = Object.keys(distributor.feeds ?? {})
  if (preset !== undefined && !known.includes(preset))
    throw invalid(
      'feed',
      `no account brings a feed for ${preset}; known: ${known.join(', ') || 'none'}`,
    )
  const wanted = preset ?? known[0]
  const mode = ctx.modes.of(distid)
  if (!distributor.check)
    throw invalid('distid', `${distributor.name} has no interface that could be asked`)
  const account = await accountOf(ctx, { distid, subscriber_id: subscriber })
  const check = await recordCheck(ctx, account)
  const isGood = check.outcome === 'valid' && wanted !== undefined
  return {
    recording: 1,
    distid,
    mode,
    recorded_at: new Date(ctx.now()).toISOString(),
    settings: standInsFor(account),
    check,
    feed: isGood ? await recordFeed(ctx, account, wanted) : null,
  }
}

async function recordCheck(ctx: FeedsCtx, account: FeedAccount): Promise<Recording['check']> {
  const [tape, secrets] = [new Tape(), secretsOf(account)]
  const outcome = await askAboutCredentials(ctx, account.distributor, {
    ...account,
    wrap: (session) => tape.wrap({ ...session, hide: (secret) => void secrets.add(secret) }),
  })
  return { outcome, calls: scrubbed(tape, account, secrets, withoutPerson) }
}

async function recordFeed(ctx: FeedsCtx, account: FeedAccount, id: string): Promise<RecordedFeed> {
  const { distributor } = account
  const held = await heldUntil(ctx, account, id)
  if (held !== null) {
    const fault = `it may not be asked for this feed before ${new Date(held).toISOString()}`
    return { preset: id, calls: [], whole: null, head: null, fault }
  }
  const preset = choosePreset(ctx.distributors, distributor.distid, id)
  const [tape, secrets] = [new Tape(), secretsOf(account)]
  const deadline = deadlineIn(PATIENCE, ctx.checkRuns.closing.signal)
  const tell = () => scrubbed(tape, account, secrets, withoutPrices)
  try {
    const session = await sessionOf(ctx, account, {
      signal: deadline.signal,
      secrets,
      wrap: (one) => tape.wrap(one),
    })
    const whole = await bringAndRead(distributor, preset, session, (time) =>
      hold(ctx, account, id, time),
    )
    const recorded = { preset: id, calls: tell(), whole }
    const at = { settings: standInsFor(account), now: ctx.now() }
    return await replayFeed(distributor, preset, recorded, at).then(
      (head) => ({ ...recorded, head, fault: null }),
      (error: unknown) => {
        const fault = `what is recorded of it cannot be read again (${kindOf(error)})`
        return { ...recorded, head: null, fault }
      },
    )
  } catch (error) {
    const fault = hidingSecrets([...secrets])(reasonOf(error))
    return { preset: id, calls: tell(), whole: null, head: null, fault }
  } finally {
    deadline.clear()
  }
}

/** Secrets by their value, and whatever else somebody has entered; not what was chosen of a list. */
function scrubbed(
  tape: Tape,
  { distributor, settings }: FeedAccount,
  secrets: ReadonlySet<string>,
  scrub: (text: string) => string,
): TapedCall[] {
  const values = Object.entries(settings).flatMap(([name, value]) =>
    distributor.settings[name]?.choices === undefined &&
    (typeof value === 'string' || typeof value === 'number')
      ? [String(value)]
      : [],
  )
  const hide = hidingSecrets([...secrets, ...values])
  // A folder that was entered is asked for again by what stands in for it.
  const folders = Object.entries(settings).filter(
    ([name, value]) => typeof value === 'string' && distributor.settings[name]?.secret !== true,
  )
  const pathOf = (path: string) =>
    folders.reduce((text, [name, value]) => text.replace(`/${value}/`, `/${standIn(name)}/`), path)
  return tape.calls.map(({ body, ...call }) => ({
    ...call,
    path: hide(pathOf(call.path)),
    body: body === null ? null : ended(scrub(hide(body)), call.isCut),
  }))
}

/** Of what was cut, without its end: half of a secret may stand there, which nothing recognizes. */
const ended = (text: string, isCut: boolean) => (isCut ? cutToRows(text.slice(0, -MARGIN)) : text)

/** `now` in milliseconds since 1970: when it was recorded. */
export interface ReplayAt {
  settings: Readonly<Record<string, unknown>>
  now: number
}

/** What a connector makes of a recorded check. */
export async function replayCheck(
  distributor: Distributor,
  { calls }: Pick<Recording['check'], 'calls'>,
  { settings, now }: ReplayAt,
): Promise<CheckOutcome> {
  const session = replaySession(calls, settings, { now: () => now, signal: FOREVER })
  return distributor.check!(session)
}

/** How a connector and its preset read a recorded feed. Throws a NotRecorded for an odd call. */
export async function replayFeed(
  distributor: Distributor,
  preset: Preset,
  { calls }: Pick<RecordedFeed, 'calls'>,
  { settings, now }: ReplayAt,
): Promise<ReadCounts> {
  const session = replaySession(calls, settings, { now: () => now, signal: FOREVER })
  return bringAndRead(distributor, preset, session, async () => {})
}

const FOREVER = new AbortController().signal

const standIn = (name: string) => `any-${name}`

/** What a connector is given in place of the settings that were set. */
const standInsFor = ({ distributor, settings }: FeedAccount): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(distributor.settings).flatMap(([name, { choices, type }]) => {
      const value = settings[name]
      if (isBlank(value) || Array.isArray(value)) return []
      const isTold = choices !== undefined || typeof value === 'boolean'
      return [[name, isTold ? value : type === 'number' ? 1 : standIn(name)]]
    }),
  )

async function bringAndRead(
  distributor: Distributor,
  preset: Preset,
  session: Session,
  holdUntil: (time: number) => Promise<void>,
): Promise<ReadCounts> {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-record-'))
  const file = join(folder, 'feed')
  try {
    await distributor.feeds![preset.id]!.bring(session, { file, mark: null, holdUntil })
    const { rows, rejected, reasons, rejects } = await checkFeed({
      preset,
      file,
      rows: MOST_REASONS,
      asOf: session.now(),
    })
    const counted: Record<string, number> = {}
    for (const reason of [...reasons, ...rejects.map((one) => one.reason)]) {
      const kind = withoutValues(reason)
      counted[kind] = (counted[kind] ?? 0) + 1
    }
    return { rows, rejected, reasons: counted }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Rejected rows that are looked at for their reasons. */
const MOST_REASONS = 1_000

const withoutValues = (reason: string) => reason.replaceAll(/"[^"]*"|\d+/g, '…')
