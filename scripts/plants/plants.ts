/**
 * All bugs that the suites must find. Those of crashes, of several processes and of the fuzzer
 * stand beside their harnesses.
 */
import { PLANTS as CRASHES } from '../crash/planted.js'
import { CATALOG } from './catalog.js'
import { FRAUD } from './fraud.js'
import { HISTORY } from './history.js'
import { ORDERS } from './orders.js'
import { RESTRICTIONS } from './restrictions.js'
import type { Plant } from './seam.js'

export const PLANTS: readonly Plant[] = [
  ...ORDERS,
  ...HISTORY,
  ...CATALOG,
  ...RESTRICTIONS,
  ...FRAUD,
  // What a crash shows too seldom, or never.
  ...CRASHES.flatMap(({ suites, ...plant }) => (suites ? { ...plant, suites } : [])),
]
