/** Which columns a build has, for whoever writes them and whoever reads them. */
import type { ColumnKind, ColumnOf } from '../catalog/arena.js'
import type { Metric } from './metrics/metric.js'

/** Rows of a metric, sorted by item and distributor. */
export type SectionColumns = Record<string, ColumnOf<ColumnKind>>

/** Every column of a metric with its kind. */
export function columnKinds({ columns }: Metric): Record<string, ColumnKind> {
  return { item: 'u32', dist: 'u16', ...columns }
}

/** Beside the texts, by item: what filters look at (NaN: in no category), where the text ends, and its checksum. */
export const ITEM_KINDS = { category: 'f64', productClass: 'u8', end: 'f64', crc: 'u32' } as const satisfies Record<string, ColumnKind>

export type ItemColumns = { readonly [N in keyof typeof ITEM_KINDS]: ColumnOf<(typeof ITEM_KINDS)[N]> }
