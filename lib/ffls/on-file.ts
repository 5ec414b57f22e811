/**
 * `ffls on-file`: a distributor's list of the dealers whose license it has (RSR:
 * NAME;STREET;CITY;ST;ZIP;LICENSE, no header).
 */
import { basename } from 'node:path'
import { audit } from '../accounts/audit.js'
import type { FflsCtx } from './ctx.js'
import { invalid } from '../core/errors.js'
import { inChunks, knownDealers, patiently, putDealers } from './dealer-store.js'
import { touch } from '../db/state.js'
import type { License } from './license.js'
import type { KeptState, KnownDealer } from './lists/diff.js'
import { readListFile } from './lists/file.js'
import { licenseFit, readEntries } from './lists/on-file-rows.js'
import type { Address, Entries, Entry } from './lists/on-file-rows.js'
import { NAMED, timeOfList, typesOf } from './lists/report.js'
import type { ListInput, ListOptions, ListReport } from './lists/report.js'

export interface OnFileInput extends ListInput {
  distid: string
  /** Takes marks away however few dealers the list holds. */
  force?: boolean
}

export interface OnFileResult extends ListReport {
  distid: string
  /** Dealers that get the distributor's mark, have it already, and lose it. */
  marked: number
  unchanged: number
  unmarked: number
  /** Dealers that no list named before. */
  added: number
  /** Dealers whose license is a later one than the known. */
  renewed: number
  /**
   * Marked dealers that are not in the directory, since their row has a license alone; their mark
   * waits for them.
   */
  unknown: number
  /** Marks that stay although the list lacks their dealers, and why. */
  kept: Omit<KeptState, 'state'> | null
  /** The first of each kind. */
  additions: { license_number: string; name: string; state: string }[]
  renewals: { from: string; to: string; name: string }[]
}

/** Takes in a distributor's list. A file without licenses is a 400. */
export async function importOnFile(
  ctx: FflsCtx,
  input: OnFileInput,
  options: ListOptions = {},
): Promise<OnFileResult> {
  const { distid } = input
  const distids = ctx.distributors.all.map((distributor) => distributor.distid)
  if (!distids.includes(distid))
    throw invalid(
      'distid',
      `"${distid}" is not a known distributor; known are ${distids.join(', ')}`,
    )
  const types = typesOf(input.types)
  const asOf = timeOfList(ctx, input.file, options.asOf)
  const { onProgress } = options
  const file = await readListFile({
    file: input.file,
    fits: licenseFit,
    onProgress: onProgress && ((...progress) => onProgress('reading', ...progress)),
  })
  const known = await knownDealers(ctx)
  const list = readEntries(file, { types, asOf, known })
  const plan = await compareMarks(ctx, { distid, list, known, asOf, force: input.force === true })
  const result = { distid, ...list.report, ...resultOf(plan) }
  if (options.dryRun) return result
  await apply(ctx, distid, plan, onProgress)
  const { rejects: _rejects, additions: _additions, renewals: _renewals, ...counts } = result
  await patiently(() =>
    ctx.engine.atomic(ctx, (tx) =>
      audit(tx, 'ffls.on-file', {
        file: basename(input.file),
        ...counts,
        cut_off: counts.cut_off?.line ?? null,
      }),
    ),
  )
  return result
}

interface Plan {
  mark: string[]
  unmark: string[]
  unchanged: number
  unknown: number
  added: KnownDealer[]
  renewed: { before: KnownDealer; after: KnownDealer }[]
  kept: OnFileResult['kept']
}

async function compareMarks(
  { read }: FflsCtx,
  {
    distid,
    list,
    known,
    asOf,
    force,
  }: {
    distid: string
    list: Entries
    known: ReadonlyMap<string, KnownDealer>
    asOf: number
    force: boolean
  },
): Promise<Plan> {
  const { entries, mentioned, report } = list
  const marks = new Set(
    (
      await read
        .selectFrom('dealer_on_file')
        .select('dealer_id')
        .where('distid', '=', distid)
        .execute()
    ).map((row) => row.dealer_id),
  )
  const missing = [...marks].filter((id) => !entries.has(id) && !mentioned.has(id))
  const reason =
    force || missing.length === 0
      ? null
      : whyKept(report.cut_off !== null, marks.size, missing.length)
  const mark = [...entries.keys()].filter((id) => !marks.has(id))
  const plan: Plan = {
    mark,
    unmark: reason === null ? missing : [],
    unchanged: entries.size - mark.length,
    unknown: 0,
    added: [],
    renewed: [],
    kept: reason === null ? null : { missing: missing.length, known: marks.size, reason },
  }
  for (const [id, entry] of entries) {
    const before = known.get(id)
    if (before) {
      const after = renew(before, entry, asOf)
      if (after !== before) plan.renewed.push({ before, after })
    } else if (entry.address) plan.added.push(newDealer(entry, entry.address, asOf))
    else plan.unknown++
  }
  return plan
}

/** Share of the marked dealers that a list must hold to take marks away, in percent. */
const LEAST_SHARE = 70

function whyKept(cutOff: boolean, known: number, missing: number): string | null {
  if (cutOff) return 'the list is cut off'
  return (known - missing) * 100 < known * LEAST_SHARE
    ? `the list holds less than ${LEAST_SHARE} % of the dealers that have the mark`
    : null
}

/**
 * The dealer with the license of the list where that one expires later; also one that an older list
 * revoked.
 */
function renew(
  before: KnownDealer,
  { license, expires, address }: Entry,
  asOf: number,
): KnownDealer {
  if (license.number === before.license_number || expires <= before.expires_on) return before
  return {
    ...before,
    ...(before.source === 'on_file' && address),
    license_number: license.number,
    license_type: license.type,
    expires_on: expires,
    ...(asOf >= before.updated_at && { listed: 1, updated_at: asOf }),
  }
}

function newDealer({ license, expires }: Entry, address: Address, asOf: number): KnownDealer {
  return {
    id: license.id,
    license_number: license.number,
    license_type: license.type,
    expires_on: expires,
    ...address,
    business_name: null,
    mail_street: null,
    mail_city: null,
    mail_state: null,
    mail_zip: null,
    voice_phone: null,
    listed: 1,
    source: 'on_file',
    updated_at: asOf,
  }
}

function resultOf({
  mark,
  unmark,
  unchanged,
  unknown,
  added,
  renewed,
  kept,
}: Plan): Omit<OnFileResult, keyof ListReport | 'distid'> {
  return {
    marked: mark.length,
    unchanged,
    unmarked: unmark.length,
    added: added.length,
    renewed: renewed.length,
    unknown,
    kept,
    additions: added.slice(0, NAMED).map((dealer) => ({
      license_number: dealer.license_number,
      name: dealer.license_name,
      state: dealer.premise_state,
    })),
    renewals: renewed.slice(0, NAMED).map(({ before, after }) => ({
      from: before.license_number,
      to: after.license_number,
      name: after.business_name ?? after.license_name,
    })),
  }
}

/**
 * Marks go first: new ones would otherwise raise the share of the list when a run is broken off.
 */
async function apply(
  ctx: FflsCtx,
  distid: string,
  { mark, unmark, added, renewed }: Plan,
  onProgress: ListOptions['onProgress'],
): Promise<void> {
  const puts = [...renewed.map(({ after }) => after), ...added]
  const total = unmark.length + puts.length + mark.length
  let done = 0
  const step = (count: number) => onProgress?.('writing', (done += count), total, done)
  await inChunks(
    ctx,
    unmark,
    async ({ db }, ids) =>
      void (await db
        .deleteFrom('dealer_on_file')
        .where('distid', '=', distid)
        .where('dealer_id', 'in', [...ids])
        .execute()),
    step,
  )
  await inChunks(ctx, puts, putDealers, step)
  await inChunks(
    ctx,
    mark,
    async ({ db }, ids) => {
      await db
        .insertInto('dealer_on_file')
        .values(ids.map((id) => ({ distid, dealer_id: id })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    step,
  )
}

/**
 * Keeps what a distributor says of one dealer: until its next list, that counts as its list does.
 * Nothing for a dealer that is not known.
 */
export async function noteOnFile(
  ctx: FflsCtx,
  { distid, license, isOnFile }: { distid: string; license: License; isOnFile: boolean },
): Promise<void> {
  await ctx.engine.atomic(ctx, async ({ db }) => {
    const known = await db
      .selectFrom('dealer')
      .select('id')
      .where('id', '=', license.id)
      .executeTakeFirst()
    if (!known) return
    if (isOnFile)
      await db
        .insertInto('dealer_on_file')
        .values({ distid, dealer_id: known.id })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    else
      await db
        .deleteFrom('dealer_on_file')
        .where('distid', '=', distid)
        .where('dealer_id', '=', known.id)
        .execute()
    await touch(db, 'dealers')
  })
}
