/** Every operation of the operator: what `app.operator` does, as calls with shapes. */
import { accountOperations } from '../../accounts/operations.js'
import { analyticsOperations } from '../../analytics/operations.js'
import { configurationOperations } from '../../configuration/operations.js'
import { consoleOperations } from '../../console/operations.js'
import type {
  AnyOperation,
  OperationInput as InputOf,
  OperationResult as ResultOf,
} from '../../core/endpoint/operation.js'
import { distributorOperations } from '../../distributors/operations.js'
import { eventOperations } from '../../events/operations.js'
import { feedOperations } from '../../feeds/operations.js'
import { fflOperations } from '../../ffls/operations.js'
import { fraudOperations } from '../../fraud/operations.js'
import { orderOperations } from '../../orders/operations.js'
import { ruleOperations } from '../../restrictions/operations.js'
import type { OperationCtx } from './ctx.js'
import { installationOperations } from './installation.js'
import { logOperations } from './log.js'

export const operations = [
  ...installationOperations,
  ...logOperations,
  ...accountOperations,
  ...eventOperations,
  ...consoleOperations,
  ...distributorOperations,
  ...feedOperations,
  ...configurationOperations,
  ...fflOperations,
  ...ruleOperations,
  ...orderOperations,
  ...analyticsOperations,
  ...fraudOperations,
] as const

export type OperationId = (typeof operations)[number]['id']
type OperationOf<Id extends OperationId> = Extract<(typeof operations)[number], { id: Id }>
/** What a caller passes for the operation of an id, and what it gets. */
export type OperationInput<Id extends OperationId> = InputOf<OperationOf<Id>>
export type OperationResult<Id extends OperationId> = ResultOf<OperationOf<Id>>

/** For code that treats all operations alike. */
export const allOperations = operations as unknown as readonly AnyOperation<OperationCtx>[]
