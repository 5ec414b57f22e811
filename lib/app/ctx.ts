/**
 * What every function of the domains gets first. There are no globals: two apps in one process know
 * nothing of each other.
 */
import type { Kysely } from 'kysely'
import type { Key } from '../accounts/keys.js'
import type { Limits } from '../accounts/limits.js'
import type { Subscriber } from '../accounts/subscribers.js'
import type { Analytics } from '../analytics/analytics.js'
import type { Catalog } from '../catalog/catalog.js'
import type { CheckRuns } from '../configuration/credentials.js'
import type { Configurations } from '../configuration/saved.js'
import type { Engine } from '../db/engine.js'
import type { Tables } from '../db/tables/tables.js'
import type { Modes } from '../distributors/modes.js'
import type { Registry } from '../distributors/registry.js'
import type { Dealers } from '../ffls/directory.js'
import type { ObjectStore } from '../objects/store.js'
import type { Exporter } from '../exports/exporter.js'
import type { FraudKeys } from '../fraud/keys/keys.js'
import type { FraudCounts } from '../fraud/reports/quota.js'
import type { Rules } from '../restrictions/rules/sets.js'
import type { Log } from '../core/log.js'
import type { Secrets } from '../core/storage/secrets.js'
import type { Space } from '../core/storage/space.js'
import type { OrderSender } from '../orders/engine/engine.js'

/** The context of an operator's act: the command line, a job, an embedder. */
export interface OperatorCtx {
  /** The writer; within `atomic`, the transaction. */
  readonly db: Kysely<Tables>
  /** Reads that never wait for a transaction; within `atomic`, the transaction. */
  readonly read: Kysely<Tables>
  readonly engine: Engine
  /** Whole milliseconds since 1970. The only clock. */
  readonly now: () => number
  /**
   * Whole milliseconds of a clock that never steps, from no day in particular: for what must not
   * depend on the wall clock.
   */
  readonly monotonic: () => number
  readonly random: (bytes: number) => Buffer
  readonly log: Log
  readonly secrets: Secrets
  readonly limits: Limits
  readonly catalog: Catalog
  readonly configurations: Configurations
  readonly checkRuns: CheckRuns
  readonly distributors: Registry
  readonly modes: Modes
  readonly dealers: Dealers
  readonly rules: Rules
  readonly space: Space
  /** Sends purchase orders and finds out what became of them. */
  readonly orders: OrderSender
  /** Where files are kept that callers download. */
  readonly objects: ObjectStore
  /**
   * The keys under which fraud signals are kept; read from their files when one was added or
   * replaced.
   */
  readonly fraudKeys: () => FraudKeys
  /** What this process has counted of the use of fraud signals. */
  readonly fraudCounts: FraudCounts
  /** Builds exports and knows where they are. */
  readonly exports: Exporter
  /** Answers of the metrics, out of the build that all subscribers share. */
  readonly analytics: Analytics
  /** Who acts, for the audit: `cli`, `library`, `job:feeds`. */
  readonly actor: string
}

/** The context of one call of one subscriber. */
export interface Ctx extends OperatorCtx {
  readonly subscriber: Subscriber
  /** Null for a library caller that named a subscriber instead of a key. */
  readonly key: Key | null
}
