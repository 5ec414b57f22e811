import type { CatalogCtx } from '../catalog/ctx.js'

export interface FeedsCtx extends CatalogCtx {}
