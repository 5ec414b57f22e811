import type { Caller, Subscriber } from '../accounts/caller.js'
import type { CatalogCtx } from '../catalog/ctx.js'
import type { View } from '../catalog/view/view.js'
import type { ExportFileTable } from '../db/tables/meter.js'
import type { ObjectStore, UrlOptions } from '../objects/store.js'

export interface Exporter {
  /**
   * The files of an export, built if they are not there. Throws `feed_unavailable` where that fails
   * or takes too long.
   */
  files(subscriber: Subscriber, view: View, version: string, wanted: Wanted): Promise<Published>
  /** An address of one of its files. Throws `feed_unavailable` where the store gives none. */
  url(key: string, options: UrlOptions): Promise<string>
  /** Ends what is being built. */
  stop(): Promise<void>
}

/** A built export, as its row has it. */
export type Published = ExportFileTable

export interface Wanted {
  ignoreRestrictions: boolean
  attributes: boolean
}

export interface ExportsCtx extends CatalogCtx {
  /** Where files are kept that callers download. */
  readonly objects: ObjectStore
  /** Builds exports and knows where they are. */
  readonly exports: Exporter
}

export interface ExportsCall extends ExportsCtx, Caller {}
