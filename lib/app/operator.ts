/** What the operator does, by domain: `app.operator`. */
import * as accounts from '../accounts/operator.js'
import * as analytics from '../analytics/operator.js'
import * as configuration from '../configuration/operator.js'
import { people } from '../console/operator.js'
import * as distributors from '../distributors/operator.js'
import * as events from '../events/operator.js'
import * as feeds from '../feeds/operator.js'
import * as ffls from '../ffls/operator.js'
import * as fraud from '../fraud/operator.js'
import type { ExportOptions } from '../fraud/sharing/export.js'
import type { ObjectStore } from '../objects/store.js'
import * as orders from '../orders/operator.js'
import * as restrictions from '../restrictions/operator.js'
import { makeBackup } from './backup/backup.js'
import { listBackups } from './backup/list.js'
import { bind, bindWorker, forSubscriber } from './bind.js'
import type { Bound } from './bind.js'
import { overview } from './overview.js'

export interface OperatorParts extends Bound {
  /** The store of the journal's copy. */
  journalCopy: ObjectStore | undefined
  /** Aborted when the app closes. */
  closing: AbortSignal
}

export function operatorFunctions({ journalCopy, closing, ...bound }: OperatorParts) {
  const { ctx, underWay } = bound
  return {
    subscribers: bind(bound, accounts.subscribers),
    keys: bind(bound, accounts.keys),
    secrets: bind(bound, accounts.secrets),
    audit: bind(bound, accounts.audit),
    console: bind(bound, people),
    overview: bind(bound, { today: overview }),
    backups: bind(bound, { list: listBackups }),
    events: bind(bound, events.events),
    feeds: {
      ...bind(bound, feeds.feeds),
      ...bindWorker(bound, feeds.feedsByWorker(closing)),
    },
    configurations: forSubscriber(bound, configuration.configurations),
    catalog: forSubscriber(bound, configuration.catalog),
    ffls: bind(bound, ffls.ffls),
    rules: {
      ...bind(bound, { ...orders.enforcement, ...restrictions.rules }),
      ...forSubscriber(bound, restrictions.rulesOfSubscriber),
      diff: (input: Parameters<typeof restrictions.diffRules>[1]) =>
        underWay.runNow(() => restrictions.diffRules(ctx, input)),
    },
    fraud: {
      ...bind(bound, fraud.fraud),
      ...forSubscriber(bound, fraud.fraudOfSubscriber),
      exportBatch: (partner: string, options?: ExportOptions) =>
        underWay.steps(() => fraud.exportBatch(ctx, partner, options)),
    },
    distributors: bind(bound, {
      ...distributors.distributors,
      ...configuration.goingLive,
      ...feeds.distributors,
      ...orders.distributors,
    }),
    analytics: bind(bound, analytics.analytics),
    orders: {
      ...forSubscriber(bound, orders.ordersOfSubscriber),
      ...bind(bound, orders.orders),
      ...bind(bound, orders.journalFunctions(journalCopy)),
    },
    ...bindWorker(bound, { backup: makeBackup }),
  }
}

/** What the operator does: subscribers, keys, feeds, configurations. */
export type Operator = ReturnType<typeof operatorFunctions>
