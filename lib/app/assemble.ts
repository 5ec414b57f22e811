/** Puts the parts of an app together: what the functions of all domains get. */
import { openAnalytics } from '../analytics/analytics.js'
import { analyticsJob } from '../analytics/builds/rebuild-job.js'
import { historyJob } from '../analytics/history/roll-up-job.js'
import { openLimits } from '../accounts/limits/limits.js'
import { openCatalog } from '../catalog/catalog.js'
import { readState } from '../catalog/queries.js'
import { openCheckRuns } from '../configuration/credentials.js'
import { openConfigurations } from '../configuration/saved-documents.js'
import type { Background } from '../core/async/background.js'
import type { Job } from '../core/async/job.js'
import { openSpace } from '../core/storage/disk-space.js'
import { openModes } from '../distributors/modes.js'
import { presets } from '../distributors/builtin/index.js'
import type { SharedDocuments } from '../distributors/document/kept/shared.js'
import type { Distributor } from '../distributors/distributor.js'
import { makeRegistry } from '../distributors/registry.js'
import { withServers } from '../distributors/servers.js'
import { Logins } from '../distributors/session/logins.js'
import { openExporter } from '../exports/exporter.js'
import { eventJob } from '../events/sweep.js'
import { exportJob, removeDeadBuilds } from '../exports/sweep.js'
import { pullJobs } from '../feeds/pull.js'
import { dealerListJobs } from '../ffls/account-list.js'
import { licenseJob } from '../ffls/expiring.js'
import { openDealers } from '../ffls/directory.js'
import { keysInFiles } from '../fraud/keys/files.js'
import { openFraudKeys } from '../fraud/keys/keyring.js'
import { openFraudCounts } from '../fraud/reports/quota.js'
import { fraudJob } from '../fraud/reports/upkeep.js'
import type { ObjectStore } from '../objects/store.js'
import { OrderEngine } from '../orders/engine/engine.js'
import { openJournalCopy } from '../orders/journal/copy.js'
import { transcriptJob } from '../orders/transcripts.js'
import { decisionJob } from '../restrictions/decision-log.js'
import { openRules } from '../restrictions/rules/active-rules.js'
import { simulatorJob } from '../simulator/demo/stock.js'
import { openSimulators, withSimulator } from '../simulator/simulators.js'
import { catalogStock } from '../simulator/engine/stock.js'
import { makeAlarmJob } from './alarms.js'
import { openBackground } from './background/background.js'
import type { OperatorCtx } from './ctx.js'
import type { Settings } from './options.js'
import type { State } from './state.js'
import { openStores } from './stores.js'
import type { Tasks } from './background/tasks.js'

export interface Parts {
  ctx: OperatorCtx
  background: Background<Tasks>
  simulators: ReturnType<typeof openSimulators>
  /** The store of the journal's copy. */
  journalCopy: ObjectStore | undefined
}

interface Hooks {
  /** Aborted when the app closes. */
  closing: AbortSignal
  /** Asked for when the keys of fraud signals have changed. */
  mendFraud: () => void
}

export async function openParts(settings: Settings, state: State, hooks: Hooks): Promise<Parts> {
  const { dir, now, monotonic, log, worker } = settings
  const { engine, secrets } = state
  const simulators = openSimulators({
    dir,
    now,
    log,
    stockOf: (distid, sku) => catalogStock(catalog.current(), distid, sku),
  })
  const described = await describedDistributors(settings, engine)
  const distributors = makeRegistry(
    described.distributors.map((distributor) => withSimulator(distributor, simulators)),
    presets,
  )
  const background = openBackground({ worker, log })
  const configurations = openConfigurations(engine, distributors, secrets)
  const limits = openLimits(engine, now, log)
  const catalog = openCatalog({ engine, configurations, background, log, now, monotonic })
  await removeDeadBuilds(dir)
  const { objects, journalCopy } = await openStores(settings, secrets, hooks.closing)
  const { documents } = described
  const { sharing, register, fraudKeyStore } = await partsOfNode(settings, {
    engine,
    secrets,
    catalog,
    background,
    objects,
    documents,
  })
  const ctx = makeContext({
    settings,
    state,
    hooks,
    journalCopy,
    parts: {
      distributors,
      configurations,
      limits,
      catalog,
      objects,
      sharing,
      register,
      fraudKeyStore,
      documents,
    },
  })
  return { ctx, background, simulators, journalCopy }
}

/** The distributors with their documents: those of a folder are known before it is open. */
async function describedDistributors(
  { database, distributors, servers, dir, log }: Settings,
  { read }: Pick<OperatorCtx, 'read'>,
): Promise<{ distributors: readonly Distributor[]; documents: SharedDocuments | null }> {
  if (database === undefined) return { distributors, documents: null }
  // Who has one folder loads nothing of it.
  const { readShared } = await import('../distributors/document/kept/shared.js')
  const found = await readShared(read, { distributors, presets }, dir)
  for (const { distid, fault } of found.known)
    if (fault !== null)
      log.error({ distid, fault }, 'a document cannot be used: this node is without it')
  for (const file of found.strayFiles)
    log.warn({ file }, 'a document of this folder is not used: nodes have those of their database')
  return {
    distributors: withServers(found.distributors, servers),
    documents: { known: found.known, strayFiles: found.strayFiles },
  }
}

/** What a node has that is one of several, and what one folder has in its place. */
async function partsOfNode(
  { dir, now, monotonic, random, log }: Settings,
  parts: Pick<OperatorCtx, 'engine' | 'secrets' | 'catalog' | 'objects' | 'documents'> & {
    background: Background<Tasks>
  },
): Promise<Pick<OperatorCtx, 'sharing' | 'register' | 'fraudKeyStore'>> {
  const { engine, secrets, catalog, background, objects, documents } = parts
  const { lead, db, read } = engine
  if (lead === null)
    return { sharing: null, register: null, fraudKeyStore: keysInFiles(dir, random) }
  // Who has one folder loads nothing of it.
  const { openSharing } = await import('../feeds/shared/sharing.js')
  const { historyFilesMoved } = await import('../analytics/shared-files.js')
  const { leaderPlace, openRegister } = await import('./nodes/register.js')
  const { keysInDatabase } = await import('../fraud/keys/shared.js')
  const sharing = openSharing({
    engine,
    lead,
    db,
    read,
    background,
    objects,
    log,
    now,
    monotonic,
    leader: () => leaderPlace({ read, engine, now }),
    filesMoved: () => historyFilesMoved(engine.dir),
    adopted: () => catalog.buildAhead(),
    changed(isReplaced) {
      engine.lookAgain()
      if (isReplaced) catalog.records.replaced(readState(engine.catalog).revision)
      catalog.current()
    },
  })
  return {
    sharing,
    register: openRegister({ db, engine, log, now, documents: documents?.known ?? [] }),
    fraudKeyStore: await keysInDatabase(engine, secrets, random),
  }
}

/** The context; what needs all of it asks for it when it is used. */
function makeContext({
  settings,
  state: { engine, secrets },
  hooks: { closing, mendFraud },
  journalCopy,
  parts,
}: {
  settings: Settings
  state: State
  hooks: Hooks
  journalCopy: ObjectStore | undefined
  parts: Pick<
    OperatorCtx,
    | 'distributors'
    | 'configurations'
    | 'limits'
    | 'catalog'
    | 'objects'
    | 'sharing'
    | 'register'
    | 'fraudKeyStore'
    | 'documents'
  >
}): OperatorCtx {
  const { dir, now, monotonic, random, log, actor, faults, egress } = settings
  const copy = journalCopy && openJournalCopy(journalCopy, closing)
  const shared = {
    ...parts,
    db: engine.db,
    read: engine.read,
    engine,
    now,
    monotonic,
    random,
    log,
    secrets,
    checkRuns: openCheckRuns(),
    modes: openModes(engine, parts.distributors),
    logins: new Logins(now),
    egress,
    dealers: openDealers(engine),
    rules: openRules(engine),
    space: openSpace(dir, faults.freeBytes),
    fraudKeys: openFraudKeys(engine, { keys: parts.fraudKeyStore, log, mend: mendFraud }),
    fraudCounts: openFraudCounts(),
    actor,
  }
  const ctx: OperatorCtx = {
    ...shared,
    orders: new OrderEngine(shared, { ...faults, copy }),
    exports: openExporter(() => ctx, faults.exports),
    analytics: openAnalytics(() => ctx, faults.analytics),
  }
  return ctx
}

/** What the schedule runs, in this order where several are due. */
export function allJobs(
  { distributors }: Pick<OperatorCtx, 'distributors'>,
  background: Background<Tasks>,
): Job<OperatorCtx>[] {
  return [
    ...pullJobs(background, distributors.all),
    ...dealerListJobs(distributors.all),
    licenseJob,
    decisionJob,
    simulatorJob,
    exportJob,
    transcriptJob,
    fraudJob,
    historyJob,
    analyticsJob,
    eventJob,
    makeAlarmJob(),
  ]
}
