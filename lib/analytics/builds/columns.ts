/** Which columns a build has, for whoever writes them and whoever reads them. */
import type { ColumnKind, ColumnOf } from '../../catalog/snapshot/arena.js'
import type { Metric } from '../metrics/metric.js'

/** Rows of a metric, sorted by item and distributor. */
export type SectionColumns = Record<string, ColumnOf<ColumnKind>>

/** Every column of a metric with its kind. */
export function columnKinds({ columns }: Metric): Record<string, ColumnKind> {
  return { item: 'u32', dist: 'u16', ...columns }
}

/**
 * What each distributor says of an item, sorted by item and distributor: those of item `n` are
 * `first[n]` to `first[n + 1]`. Beside what filters look at (category NaN: in none) stands where
 * the text is, and its checksum.
 */
export const LISTING_KINDS = {
  first: 'u32',
  dist: 'u16',
  category: 'f64',
  productClass: 'u8',
  from: 'f64',
  size: 'u32',
  crc: 'u32',
} as const satisfies Record<string, ColumnKind>

export type ListingColumns = {
  readonly [N in keyof typeof LISTING_KINDS]: ColumnOf<(typeof LISTING_KINDS)[N]>
}
