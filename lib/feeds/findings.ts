/** Which feeds are well: how old each is, and whether it comes. */
import { DAY, HOUR } from '../core/clock.js'
import { orWell } from '../core/finding.js'
import type { Finding } from '../core/finding.js'
import type { FeedsCtx } from './ctx.js'
import { refusedFiles, takenFiles } from './queries.js'

/** Pulls in a row after which a source counts as failing: a server that is restarted is no news. */
export const FAILING = 3
/** A feed is stale when so many periods, and at least this time, brought none that can be used. */
const PERIODS = 3
const LEAST_AGE = DAY

export interface FeedState {
  source: string
  distid: string
  preset: string | null
  subscriberId: string | null
  /** When the source last brought a feed that could be used; null before the first. */
  goodAt: number | null
  /** When it is stale; null for a source that nobody pulls. */
  staleAt: number | null
  /** Pulls in a row that brought nothing. */
  failures: number
  /** Why the last of them did not. */
  fault: string | null
  rows: number
  rejected: number
  /** Why the guard refused the last one, while nobody has decided. */
  refused: readonly string[] | null
}

/** What the findings look at: a folder that nobody has opened has it, too. */
export interface FeedFindingCtx extends Pick<FeedsCtx, 'read' | 'now'> {
  readonly engine: Pick<FeedsCtx['engine'], 'catalog'>
}

/** Every source that was ever set or imported. */
export async function feedStates({ read, engine }: FeedFindingCtx): Promise<FeedState[]> {
  const taken = new Map(takenFiles(engine.catalog).map((row) => [row.source, row]))
  const refused = new Map(refusedFiles(engine.catalog).map((row) => [row.source, row]))
  const sources = await read.selectFrom('feed_source').selectAll().execute()
  const states = sources.map((source): FeedState => {
    const file = taken.get(source.id)
    const goodAt = Math.max(source.good_at ?? 0, file?.taken_at ?? 0) || null
    const isPulled = source.active === 1 && source.location !== null
    return {
      source: source.id,
      distid: source.distid,
      preset: source.preset,
      subscriberId: source.subscriber_id,
      goodAt,
      staleAt: isPulled
        ? (goodAt ?? source.created_at) + Math.max(LEAST_AGE, PERIODS * source.every_ms)
        : null,
      failures: isPulled ? source.failures : 0,
      fault: faultOf(source.last_result),
      rows: file?.rows ?? 0,
      rejected: file?.rejected ?? 0,
      refused: reasonsOf(refused.get(source.id)?.reasons),
    }
  })
  const known = new Set(states.map(({ source }) => source))
  const imported = [...new Set([...taken.keys(), ...refused.keys()])].filter((id) => !known.has(id))
  return states.concat(
    imported.map((source): FeedState => {
      const file = taken.get(source)
      const [distid = source, preset = null, subscriberId = null] = source.split('/')
      return {
        source,
        distid,
        preset,
        subscriberId,
        goodAt: file?.taken_at ?? null,
        staleAt: null,
        failures: 0,
        fault: null,
        rows: file?.rows ?? 0,
        rejected: file?.rejected ?? 0,
        refused: reasonsOf(refused.get(source)?.reasons),
      }
    }),
  )
}

export async function feedFindings(ctx: FeedFindingCtx): Promise<Finding[]> {
  const now = ctx.now()
  const states = await feedStates(ctx)
  const found = states.flatMap((state) => [
    ...refusedFinding(state),
    ...failingFinding(state),
    ...staleFinding(state, now),
  ])
  const of = (check: string, message: string) =>
    orWell(
      found.filter((finding) => finding.check === check),
      check,
      message,
    )
  return [
    ...of('feed_refused', 'no feed waits for a decision'),
    ...of('feed_failing', 'every source can be pulled'),
    ...of('feed_stale', 'every feed is fresh'),
  ]
}

function refusedFinding(state: FeedState): Finding[] {
  if (!state.refused) return []
  return [
    {
      check: 'feed_refused',
      subject: state.source,
      severity: 'warn',
      message:
        `the last feed of ${state.source} was refused, and the one before it serves on: ` +
        state.refused.join('; '),
      mend: command('accept', state),
    },
  ]
}

function failingFinding(state: FeedState): Finding[] {
  if (state.failures < FAILING) return []
  return [
    {
      check: 'feed_failing',
      subject: state.source,
      severity: 'warn',
      message:
        `the feed of ${state.source} could not be pulled ${state.failures} times in a row: ` +
        `${state.fault ?? 'see the log'}`,
      mend: `quartermaster feeds pull ${state.distid}`,
    },
  ]
}

function staleFinding(state: FeedState, now: number): Finding[] {
  if (state.staleAt === null || now < state.staleAt) return []
  const age =
    state.goodAt === null
      ? 'has never come'
      : `is ${Math.floor((now - state.goodAt) / HOUR)} hours old`
  return [
    {
      check: 'feed_stale',
      subject: state.source,
      severity: 'warn',
      message: `the feed of ${state.source} ${age}: prices and stock of its offers may be wrong`,
      mend: `quartermaster feeds pull ${state.distid}`,
    },
  ]
}

function command(verb: string, { distid, preset, subscriberId }: FeedState): string {
  return [
    `quartermaster feeds ${verb} ${distid}`,
    ...(preset === null ? [] : [`--preset ${preset}`]),
    ...(subscriberId === null ? [] : [`--subscriber ${subscriberId}`]),
  ].join(' ')
}

function faultOf(lastResult: string | null): string | null {
  if (lastResult === null) return null
  const { outcome, reasons } = JSON.parse(lastResult) as { outcome: string; reasons: string[] }
  return outcome === 'failed' ? reasons.join('; ') : null
}

const reasonsOf = (text: string | undefined): readonly string[] | null =>
  text === undefined ? null : (JSON.parse(text) as string[])
