/** What the functions of all domains get: the sum of what each of them needs. */
import type { Caller } from '../accounts/caller.js'
import type { AnalyticsCtx } from '../analytics/ctx.js'
import type { ConfigurationCtx } from '../configuration/ctx.js'
import type { ExportsCtx } from '../exports/ctx.js'
import type { SharedDocuments } from '../distributors/document/kept/shared.js'
import type { FeedsCtx } from '../feeds/ctx.js'
import type { FraudCtx } from '../fraud/ctx.js'
import type { SendingCtx } from '../orders/ctx.js'
import type { Register } from './nodes/register.js'

/** The context of an operator's act: the command line, a job, an embedder. */
export interface OperatorCtx
  extends SendingCtx, FraudCtx, ExportsCtx, AnalyticsCtx, Pick<FeedsCtx, 'sharing'> {
  readonly configurations: ConfigurationCtx['configurations']
  /** Where this node notes that it is there; null where there is one folder. */
  readonly register: Register | null
  /** What this node has of the documents in the database; null where there is one folder. */
  readonly documents: SharedDocuments | null
}

/** The context of one call of one subscriber. */
export interface Ctx extends OperatorCtx, Caller {}
