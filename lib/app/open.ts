/** Opens an app over a state folder. The only place that puts the parts together. */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openAnalytics } from '../analytics/analytics.js'
import type { AnalyticsOptions } from '../analytics/ctx.js'
import { showMetric } from '../analytics/endpoints.js'
import { analyticsJob, rebuildForOperator } from '../analytics/builds/rebuild-job.js'
import { historyJob } from '../analytics/history/roll-up-job.js'
import { openBackground } from './background.js'
import { makeBackup } from './backup.js'
import type { Background } from '../core/async/background.js'
import type { Tasks } from './tasks.js'
import { openSecrets, rotateSecretKey } from '../accounts/data-keys.js'
import { joinAudit } from '../accounts/audit.js'
import { verifyAudit } from '../accounts/verify-audit.js'
import {
  changeAllowlist,
  createKey,
  keyIndex,
  listKeys,
  rotateKey,
  setKeyStatus,
} from '../accounts/keys.js'
import type { Key, Subscriber } from '../accounts/caller.js'
import { openLimits } from '../accounts/limits.js'
import { createSubscriber, findSubscriber, listSubscribers } from '../accounts/subscribers.js'
import { callEndpoint } from './call.js'
import { openCatalog } from '../catalog/catalog.js'
import { explainProduct } from '../configuration/explain.js'
import {
  checkCredentials,
  closeCheckRuns,
  openCheckRuns,
  recordCredentialCheck,
} from '../configuration/credentials.js'
import {
  configurationHistory,
  diffVersions,
  previewRollBack,
  readVersion,
  rollBack,
} from '../configuration/history.js'
import { previewConfiguration, putConfiguration } from '../configuration/put.js'
import { openConfigurations, readConfiguration } from '../configuration/saved.js'
import { validateCandidate, validateSaved } from '../configuration/validate.js'
import type { Ctx, OperatorCtx } from './ctx.js'
import { SECOND, wholeMilliseconds } from '../core/clock.js'
import { ApiError } from '../core/errors.js'
import { openJobs } from './jobs.js'
import type { Jobs } from './jobs.js'
import { silentLog } from '../core/log.js'
import type { Log } from '../core/log.js'
import { refuseUnknownOptions } from '../core/options.js'
import { OPERATOR, loadSecretKey } from '../core/storage/secrets.js'
import { openSpace } from '../core/storage/space.js'
import { openUnderWay } from '../core/async/under-way.js'
import type { UnderWay } from '../core/async/under-way.js'
import { filesIn, openEngine, prepareFolder } from '../db/engine.js'
import { builtin } from '../distributors/index.js'
import type { Distributor } from '../distributors/distributor.js'
import { openModes, setMode } from '../distributors/modes.js'
import { makeRegistry } from '../distributors/registry.js'
import { importFeed } from '../feeds/import.js'
import { pullFeed, pullJob } from '../feeds/pull.js'
import type { PullOptions } from '../feeds/pull.js'
import { acceptFeed } from '../feeds/refused.js'
import { setFeedSource } from '../feeds/source.js'
import { feedStatus } from '../feeds/status.js'
import { rulesImpact } from '../restrictions/rules/impact.js'
import { addDealer, setDealer, viewDealer } from '../ffls/dealer-settings.js'
import { openDealers } from '../ffls/directory.js'
import { importDealers } from '../ffls/lists/import.js'
import { importOnFile } from '../ffls/on-file.js'
import { exportBatch } from '../fraud/sharing/export.js'
import type { ExportOptions } from '../fraud/sharing/export.js'
import { importBatch } from '../fraud/sharing/import.js'
import { openFraudKeys } from '../fraud/keys/keyring.js'
import { addPartner, removePartner } from '../fraud/sharing/partners.js'
import { openFraudCounts } from '../fraud/reports/quota.js'
import { rotateFraudKey } from '../fraud/keys/rotate.js'
import { eraseReports, fraudJob, fraudStats } from '../fraud/reports/upkeep.js'
import { openExporter } from '../exports/exporter.js'
import type { ExporterOptions } from '../exports/exporter.js'
import { exportJob, removeDeadBuilds } from '../exports/sweep.js'
import { diskStore, parsePublicUrl } from '../objects/disk.js'
import { endingStore } from '../objects/ending-store.js'
import type { StoreLimits } from '../objects/ending-store.js'
import type { ObjectStore } from '../objects/store.js'
import { preflightFor } from '../orders/place/preflight.js'
import { setEnforcement } from '../orders/place/enforcement.js'
import { lookBack } from '../orders/operator/look-back.js'
import { listPurchaseOrders, showOrder } from '../orders/operator/view.js'
import { resolveOrder } from '../orders/operator/resolve.js'
import { verifyJournal } from '../orders/journal/verify.js'
import type { VerifyOptions } from '../orders/journal/verify.js'
import { openMonitors } from '../orders/tracking/monitor.js'
import type { Monitors } from '../orders/tracking/monitor.js'
import { fetchJournal } from '../orders/journal/fetch.js'
import type { FetchOptions } from '../orders/journal/fetch.js'
import { openJournalCopy } from '../orders/journal/copy.js'
import { openSender } from '../orders/engine/engine.js'
import type { OrderSender } from '../orders/ctx.js'
import type { SenderOptions } from '../orders/engine/engine.js'
import { decisionJob } from '../restrictions/decisions.js'
import { checkRestrictions } from '../restrictions/check.js'
import { addOverride, withdrawOverride } from '../restrictions/rules/overrides.js'
import {
  acceptStarter,
  currentRules,
  diffRules,
  importRules,
  openRules,
} from '../restrictions/rules/sets.js'
import { makeShop } from './shop.js'
import { simulatorJob } from '../simulator/demo/stock.js'
import { openSimulators } from '../simulator/distributors/simulators.js'
import { catalogStock } from '../simulator/engine/stock.js'
import { standIn } from '../simulator/distributors/stand-ins.js'
import type { Shop } from './shop.js'

export interface OpenOptions {
  /** The state folder, `./var` by default. It is made where there is none. */
  dir?: string
  /** Milliseconds since 1970; a fraction is cut off. */
  now?: () => number
  /**
   * Milliseconds of a clock that never steps, a fraction is cut off; `now` itself where that is
   * given.
   */
  monotonic?: () => number
  random?: (bytes: number) => Buffer
  log?: Log
  /** The worker's file; false works on the calling thread. */
  worker?: string | false
  /** `[...builtin, mine]` adds one. */
  distributors?: readonly Distributor[]
  /** Where files are kept that callers download; the state folder by default. */
  objects?: ObjectStore
  /**
   * A store outside of this machine that keeps a second copy of the order journal, such as
   * `s3Store`; none by default. A folder is refused.
   */
  journalCopy?: ObjectStore
  /**
   * The address at which callers reach the server, for the URLs of those files; the one that it
   * listens on by default.
   */
  publicUrl?: string
  /** 64 hex digits that take the place of the folder's own key file. */
  secretKey?: string
  /**
   * Told of a disk error of the system of record; ends the process by default, since the outcome of
   * a commit is then not known.
   */
  fatal?: (error: unknown) => void
  /** Who acts, for the audit; `library` by default. */
  actor?: string
  /**
   * For tests of what goes wrong: free bytes of the disk, and named places at which the sender of
   * orders may end.
   */
  faults?: SenderOptions & {
    freeBytes?: () => number
    exports?: ExporterOptions
    analytics?: AnalyticsOptions
    objects?: StoreLimits
  }
}

/** What functions of the operator are bound to. */
interface Bound {
  ctx: OperatorCtx
  background: Background<Tasks>
  underWay: UnderWay
  /** The store of the journal's copy. */
  journalCopy: ObjectStore | undefined
}

const OPTIONS = {
  dir: true,
  now: true,
  monotonic: true,
  random: true,
  log: true,
  worker: true,
  distributors: true,
  objects: true,
  journalCopy: true,
  publicUrl: true,
  secretKey: true,
  fatal: true,
  actor: true,
  faults: true,
} as const

/** Binds functions that take the operator's context first. */
function bind<F extends Record<string, (ctx: OperatorCtx, ...args: never[]) => Promise<unknown>>>(
  { ctx, underWay }: Bound,
  functions: F,
) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (...args: never[]) => underWay.run(() => fn(ctx, ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (ctx: OperatorCtx, ...args: infer A) => infer R
      ? (...args: A) => R
      : never
  }
}

/** As `bind`, for functions that also need the worker. */
function bindWorker<
  F extends Record<
    string,
    (ctx: OperatorCtx, background: Background<Tasks>, ...args: never[]) => Promise<unknown>
  >,
>({ ctx, background, underWay }: Bound, functions: F) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (...args: never[]) => underWay.run(() => fn(ctx, background, ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (
      ctx: OperatorCtx,
      background: Background<Tasks>,
      ...args: infer A
    ) => infer R
      ? (...args: A) => R
      : never
  }
}

/** As `bind`, for functions of one subscriber, which callers name by name or id. */
function forSubscriber<
  F extends Record<
    string,
    (ctx: OperatorCtx, subscriber: Subscriber, ...args: never[]) => Promise<unknown>
  >,
>({ ctx, underWay }: Bound, functions: F) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, fn]) => [
      name,
      (subscriber: string, ...args: never[]) =>
        underWay.run(async () => fn(ctx, await findSubscriber(ctx, subscriber), ...args)),
    ]),
  ) as {
    [N in keyof F]: F[N] extends (
      ctx: OperatorCtx,
      subscriber: Subscriber,
      ...args: infer A
    ) => infer R
      ? (subscriber: string, ...args: A) => R
      : never
  }
}

function operatorFunctions(bound: Bound, closing: AbortSignal) {
  const { ctx, journalCopy } = bound
  return {
    subscribers: bind(bound, { create: createSubscriber, list: listSubscribers }),
    keys: bind(bound, {
      create: createKey,
      list: listKeys,
      allowlist: changeAllowlist,
      setStatus: setKeyStatus,
      rotate: rotateKey,
    }),
    feeds: {
      ...bind(bound, { set: setFeedSource, status: feedStatus }),
      ...bindWorker(bound, {
        import: importFeed,
        accept: acceptFeed,
        pull: (
          known: OperatorCtx,
          background: Background<Tasks>,
          { signal = closing, ...input }: PullOptions = {},
        ) => pullFeed(known, background, { ...input, signal: AbortSignal.any([signal, closing]) }),
      }),
    },
    configurations: forSubscriber(bound, {
      put: putConfiguration,
      preview: previewConfiguration,
      read: async (known: OperatorCtx, subscriber: Subscriber) =>
        readConfiguration(known, subscriber),
      validate: validateSaved,
      check: async (known: OperatorCtx, subscriber: Subscriber, document: unknown) =>
        validateCandidate(known, subscriber, document),
      checkCredentials,
      recordCheck: recordCredentialCheck,
      history: configurationHistory,
      version: readVersion,
      diff: diffVersions,
      rollback: rollBack,
      previewRollback: previewRollBack,
    }),
    catalog: forSubscriber(bound, { explain: explainProduct }),
    ffls: bind(bound, {
      import: importDealers,
      onFile: importOnFile,
      set: setDealer,
      add: addDealer,
      show: viewDealer,
    }),
    rules: {
      ...bind(bound, {
        enforce: setEnforcement,
        import: importRules,
        impact: rulesImpact,
        accept: acceptStarter,
        list: async (known: OperatorCtx) => currentRules(known),
        withdraw: withdrawOverride,
      }),
      ...forSubscriber(bound, { test: checkRestrictions, override: addOverride }),
      diff: (input: Parameters<typeof diffRules>[1]) => diffRules(ctx, input),
    },
    secrets: bind(bound, { rotate: rotateSecretKey }),
    audit: bind(bound, { verify: verifyAudit }),
    fraud: {
      ...bind(bound, {
        stats: fraudStats,
        rotateKey: rotateFraudKey,
        addPartner,
        removePartner,
        importBatch,
      }),
      ...forSubscriber(bound, { erase: eraseReports }),
      exportBatch: (partner: string, options?: ExportOptions) => exportBatch(ctx, partner, options),
    },
    distributors: bind(bound, { setMode }),
    analytics: bind(bound, { rebuild: rebuildForOperator, show: showMetric }),
    ...bindWorker(bound, { backup: makeBackup }),
    orders: {
      ...forSubscriber(bound, { preflight: preflightFor }),
      ...bind(bound, {
        list: listPurchaseOrders,
        show: showOrder,
        resolve: resolveOrder,
        lookBack,
      }),
      ...bind(bound, {
        verifyJournal: (known: OperatorCtx, options: VerifyOptions = {}) =>
          verifyJournal(known, { copy: journalCopy, ...options }),
        fetchJournal: async (known: OperatorCtx, options: FetchOptions) => {
          if (!journalCopy)
            throw new Error('no copy of the journal is kept: give `open` the store as journalCopy')
          return fetchJournal(known, journalCopy, options)
        },
      }),
    },
  }
}

export interface App {
  readonly dir: string
  readonly ctx: OperatorCtx
  /** The address at which callers reach the server, where `open` was given one. */
  readonly publicUrl: string | null
  /** What the operator does: subscribers, keys, feeds, configurations. */
  readonly operator: ReturnType<typeof operatorFunctions>
  readonly jobs: Jobs
  /**
   * Sends purchase orders and reconciles them; a server starts it, a library sends what it places
   * itself.
   */
  readonly orders: OrderSender
  /** Ask distributors for news of open orders; a server starts them. */
  readonly monitors: Monitors
  /**
   * The functions of one shop: by `{ key }`, or by the subscriber's name or id. An unknown one
   * rejects its calls.
   */
  as(caller: string | { key: string }): Shop
  /** The key of this text, whatever its status; undefined for an unknown one. */
  findKey(key: string): Key | undefined
  /** The context of a call with this key. */
  contextFor(key: Key): Ctx
  /** Runs a call of whoever serves the app: `close` waits for it, and none begins after it. */
  run<T>(call: () => Promise<T>): Promise<T>
  /**
   * Told by whoever serves the app, for the URLs of its files; where `publicUrl` is given it
   * changes nothing.
   */
  listensAt(url: string): void
  /**
   * Ends what runs, or waits for it: afterwards no call, timer, worker or process of this app is
   * left. What a distributor was asked is waited for, at most 30 seconds; what it then has not
   * answered, the next start finds out.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens the folder, creating or upgrading its files. Starts no job, writes no log and installs no
 * signal handler. Rejects with a TypeError for an option that there is not.
 */
export async function open(options: OpenOptions = {}): Promise<App> {
  refuseUnknownOptions<Required<OpenOptions>>('open', options as Required<OpenOptions>, OPTIONS)
  if (options.journalCopy?.open)
    throw new Error(
      'journalCopy: a folder of this machine is rolled back together with it; give a store outside of it, as s3Store',
    )
  const dir = resolve(options.dir ?? './var')
  const log = options.log ?? silentLog
  const now = wholeMilliseconds(options.now ?? Date.now)
  const monotonic = wholeMilliseconds(options.monotonic ?? options.now ?? (() => performance.now()))
  const random = options.random ?? randomBytes
  let publicUrl = parsePublicUrl(options.publicUrl ?? 'http://localhost:8080')
  const fresh = !existsSync(filesIn(dir).record)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const secretKey = loadSecretKey(dir, {
    fresh,
    random,
    ...(options.secretKey !== undefined && { fromEnvironment: options.secretKey }),
  })
  prepareFolder(dir)
  const engine = openEngine(
    dir,
    options.fatal ??
      ((error) => {
        log.error(
          { err: error },
          'the disk failed under the system of record: stopping, since what was committed is not known',
        )
        process.exit(70)
      }),
  )
  const secrets = await openSecrets(engine, secretKey, random)
    .then(async (opened) => {
      await joinAudit({ engine, db: engine.db, read: engine.read, secrets: opened, now })
      return opened
    })
    .catch(async (error: unknown) => {
      await engine.close()
      throw error
    })
  const simulators = openSimulators({
    dir,
    now,
    log,
    stockOf: (distid, sku) => catalogStock(ctx.catalog.current(), distid, sku),
  })
  const distributors = makeRegistry(
    (options.distributors ?? builtin).map((distributor) => standIn(distributor, simulators)),
  )
  const background = openBackground({ worker: options.worker, log })
  const configurations = openConfigurations(engine, distributors, secrets)
  const limits = openLimits(engine, now, log)
  const catalog = openCatalog(engine, configurations, background, log)
  await removeDeadBuilds(dir)
  const ending = new AbortController()
  const underWay = openUnderWay(ending.signal)
  const objects = endingStore(
    options.objects ??
      (await openObjects({ dir, now, random, secrets, log, publicUrl: () => publicUrl })),
    ending.signal,
    options.faults?.objects,
  )
  const journalCopy =
    options.journalCopy && endingStore(options.journalCopy, ending.signal, options.faults?.objects)
  const copy = journalCopy && openJournalCopy(journalCopy, ending.signal)
  const ctx: OperatorCtx = {
    db: engine.db,
    read: engine.read,
    engine,
    now,
    monotonic,
    random,
    log,
    secrets,
    limits,
    catalog,
    configurations,
    checkRuns: openCheckRuns(),
    distributors,
    modes: openModes(engine, distributors),
    dealers: openDealers(engine),
    rules: openRules(engine),
    space: openSpace(dir, options.faults?.freeBytes),
    orders: openSender(() => ctx, random, { ...options.faults, copy }),
    objects,
    fraudKeys: openFraudKeys(engine, {
      random,
      log,
      mend: () => {
        void jobs.run('fraud').catch(() => {})
      },
    }),
    fraudCounts: openFraudCounts(),
    exports: openExporter(() => ctx, options.faults?.exports),
    analytics: openAnalytics(() => ctx, options.faults?.analytics),
    actor: options.actor ?? 'library',
  }
  const jobs = openJobs(ctx, [
    pullJob(background),
    decisionJob,
    simulatorJob,
    exportJob,
    fraudJob,
    historyJob,
    analyticsJob,
  ])
  const monitors = openMonitors({ ...ctx, actor: 'monitors' })
  const findKey = keyIndex(engine)
  const subscribers = subscriberIndex(ctx)
  const flushing = setInterval(() => limits.flush(), SECOND).unref()
  let closing: Promise<void> | undefined

  async function contextOf(caller: string | { key: string }): Promise<Ctx> {
    if (typeof caller === 'string')
      return { ...ctx, subscriber: await findSubscriber(ctx, caller), key: null }
    const key = findKey(caller.key)
    if (!key) throw new ApiError('invalid_api_key')
    if (key.status !== 'enabled')
      throw new ApiError(key.status === 'disabled' ? 'key_disabled' : 'key_cancelled')
    return contextFor(key)
  }
  const contexts = new WeakMap<Key, Ctx>()
  const contextFor = (key: Key): Ctx => {
    let made = contexts.get(key)
    if (!made)
      contexts.set(key, (made = { ...ctx, subscriber: subscribers(key.subscriberId), key }))
    return made
  }

  const close = () =>
    (closing ??= (async () => {
      ending.abort()
      await jobs.stop()
      await monitors.stop()
      await ctx.orders.stop()
      clearInterval(flushing)
      await ctx.exports.stop()
      ctx.analytics.stop()
      await closeCheckRuns(ctx.checkRuns)
      ctx.catalog.stop()
      await background.close()
      // Whatever calls waited for has ended by now, one way or the other.
      await underWay.ended()
      // What they began meanwhile ends at once.
      await closeCheckRuns(ctx.checkRuns)
      await ctx.exports.stop()
      ctx.analytics.stop()
      await ctx.dealers.stop()
      limits.flush()
      simulators.close()
      await engine.close()
    })())

  return {
    dir,
    ctx,
    publicUrl: options.publicUrl === undefined ? null : publicUrl,
    jobs,
    orders: ctx.orders,
    monitors,
    findKey,
    contextFor,
    close,
    operator: operatorFunctions({ ctx, background, underWay, journalCopy }, ending.signal),
    run: underWay.run,
    listensAt(url) {
      if (options.publicUrl === undefined) publicUrl = parsePublicUrl(url)
    },
    as: (caller) =>
      makeShop((id, input) =>
        underWay.run(async () => callEndpoint(await contextOf(caller), id, input)),
      ),
    [Symbol.asyncDispose]: close,
  }
}

/** The store that the state folder has: files, and URLs of this very server. */
async function openObjects({
  dir,
  now,
  random,
  secrets,
  log,
  publicUrl,
}: Pick<OperatorCtx, 'now' | 'random' | 'secrets' | 'log'> & {
  dir: string
  publicUrl: () => string
}): Promise<ObjectStore> {
  const store = diskStore({
    dir: join(dir, 'objects'),
    now,
    random,
    publicUrl,
    signingKey: () => secrets.of(OPERATOR).fingerprint('URLs of the object store'),
  })
  await store
    .tidy()
    .catch((error: unknown) =>
      log.warn({ err: error }, 'drafts of files that were left behind cannot be removed'),
    )
  return store
}

/**
 * Subscribers by id, remembered: they are never removed, and a name or e-mail changes with the
 * keys' state.
 */
function subscriberIndex({ engine }: OperatorCtx): (id: string) => Subscriber {
  const find = engine.reader.prepare('SELECT id, name, email FROM subscriber WHERE id = ?')
  const known = new Map<string, Subscriber>()
  return (id) => {
    let subscriber = known.get(id)
    if (!subscriber) known.set(id, (subscriber = find.get(id) as Subscriber))
    return subscriber
  }
}
