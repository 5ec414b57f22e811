import type { Caller } from '../accounts/caller.js'
import type { Documents } from '../configuration/document/saved.js'
import type { DistributorsCtx } from '../distributors/ctx.js'
import type { Catalog } from './catalog.js'

export interface CatalogCtx extends DistributorsCtx {
  readonly configurations: Documents
  readonly catalog: Catalog
}

export interface CatalogCall extends CatalogCtx, Caller {}
