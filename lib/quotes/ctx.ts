import type { OrdersCall, OrdersCtx } from '../orders/ctx.js'

export interface QuotesCtx extends OrdersCtx {}
export interface QuotesCall extends OrdersCall {}
