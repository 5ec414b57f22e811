/** The public surface of the library. */
export { open } from './app/open.js'
export type { App, OpenOptions } from './app/open.js'
export { restoreBackup } from './app/backup/restore.js'
export type { RestoreInput, Restored } from './app/backup/restore.js'
export type { Backup } from './app/backup/backup.js'
export { connect, etagOf, RemoteError } from './connect.js'
export type { ConnectOptions } from './connect.js'
export type { Shop } from './app/shop.js'
export { ApiError, ERRORS } from './core/errors.js'
export type { ErrorCode, Fault } from './core/errors.js'
export type { Log } from './core/log.js'
export { builtin } from './distributors/builtin/index.js'
export { defineDistributor } from './distributors/distributor.js'
export type { Session } from './distributors/session/session.js'
export type {
  CheckOutcome,
  Distributor,
  Setting,
  SettingValues,
} from './distributors/distributor.js'
export type {
  Destination,
  FoundOrder,
  Fulfillment,
  OrderSession,
  OrderUpdate,
  Parcel,
  PurchaseOrder,
  PurchaseOrderLine,
  Search,
  Submission,
} from './distributors/fulfillment.js'
export type { CatalogPreset, Preset, QuantityPreset } from './distributors/generic/preset.js'
export { s3Store } from './objects/s3.js'
export type { S3Options } from './objects/s3-calls.js'
export type { StoreCheck } from './objects/s3-check.js'
export type { S3Store } from './objects/s3.js'
export type { ObjectStore } from './objects/store.js'
export type { Rule } from './restrictions/rules/rule.js'
export type { ConfigurationDocument } from './configuration/document/document.js'
export type { Product, ProductDetail } from './catalog/shapes.js'
export type { Quote } from './quotes/shapes.js'
export type { PlacedOrder } from './orders/shapes.js'
export type { Preflight } from './orders/place/preflight.js'
export type { LookBack } from './orders/operator/reconcile.js'
export type { Resolution } from './orders/operator/resolve.js'
export type { Verification } from './orders/journal/verify.js'
export type { FetchedJournal } from './orders/journal/fetch.js'
