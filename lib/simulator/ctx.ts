import type { FflsCtx } from '../ffls/ctx.js'

export interface SimulatorCtx extends FflsCtx {}
