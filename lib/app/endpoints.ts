/**
 * Every endpoint, in the order of the documentation. Its method, path and limits stand in
 * core/endpoint/routes.ts.
 */
import { account, ping, usage } from '../accounts/endpoints.js'
import { analytics } from '../analytics/endpoints.js'
import { facets, getProduct, searchProducts } from '../catalog/endpoints.js'
import { configSchema, getConfig, putConfig, validateConfig } from '../configuration/endpoints.js'
import type { AnyEndpoint } from '../core/endpoint/endpoint.js'
import type { Ctx } from './ctx.js'
import { listDistributors } from '../distributors/endpoints.js'
import { exportCatalog } from '../exports/endpoints.js'
import { getFfl, getFflDocument, nearFfls } from '../ffls/endpoints.js'
import { checkFraud, removeFraud, reportFraud } from '../fraud/endpoints.js'
import { fulfillmentHistory, getOrder, listOrders } from '../orders/history/endpoints.js'
import { checkItems } from '../restrictions/endpoints.js'
import { quote } from '../quotes/endpoints.js'
import { place } from '../orders/endpoints.js'

export const endpoints = [
  ping,
  account,
  usage,
  listDistributors,
  getConfig,
  putConfig,
  configSchema,
  validateConfig,
  searchProducts,
  facets,
  getProduct,
  exportCatalog,
  analytics,
  nearFfls,
  getFfl,
  getFflDocument,
  checkItems,
  quote,
  place,
  listOrders,
  getOrder,
  fulfillmentHistory,
  checkFraud,
  reportFraud,
  removeFraud,
] as const

/** For code that treats all endpoints alike. */
export const allEndpoints = endpoints as unknown as readonly AnyEndpoint<Ctx>[]
