/** What lists of dealers have in common: how they are asked for, and what is told of their rows. */
import { statSync } from 'node:fs'
import type { FflsCtx } from '../ctx.js'
import { invalid } from '../../core/errors.js'
import { KEPT_TEXT } from '../../feeds/read/lines.js'
import type { BrokenLine } from '../../feeds/read/lines.js'
import { DEALER_TYPES, LICENSE_TYPES } from '../license.js'
import type { License } from '../license.js'

export interface ListOptions {
  /** When the list was made, milliseconds; the file's modification time by default. */
  asOf?: number
  /** Tells what would happen and changes nothing. */
  dryRun?: boolean
  /** `done` of `total`: bytes while reading, dealers while writing. */
  onProgress?: (stage: 'reading' | 'writing', done: number, total: number, rows: number) => void
}

export interface ListInput {
  file: string
  /** Types of license that are taken; `DEALER_TYPES` by default. */
  types?: readonly string[]
}

/** What every list tells of its rows. */
export interface ListReport {
  /** When the list was made. */
  as_of: string
  /** Rows of dealers, without header and cut-off line. */
  rows: number
  /** Rows by type of license that is not taken. */
  skipped: Record<string, number>
  rejected: number
  /** Rejected rows by reason. */
  reasons: Record<string, number>
  /** The first of them. */
  rejects: BrokenLine[]
  /** The last line, when it was cut off; it is never taken. */
  cut_off: BrokenLine | null
}

/** So many rows and dealers are named in a result; all are counted. */
export const NAMED = 100

/** Checked types of license, two digits each. */
export function typesOf(types: readonly string[] = DEALER_TYPES): Set<string> {
  const wanted = types.map((type) => type.trim().padStart(2, '0'))
  const unknown = wanted.find((type) => !LICENSE_TYPES.includes(type))
  if (unknown !== undefined || wanted.length === 0)
    throw invalid(
      'types',
      `"${unknown ?? ''}" is not a type of license; there are ${LICENSE_TYPES.join(', ')}`,
    )
  return new Set(wanted)
}

/**
 * When a list was made, ms. A file from a clock that is ahead must not make every later list look
 * old.
 */
export function timeOfList(ctx: FflsCtx, file: string, asOf: number | undefined): number {
  if (asOf !== undefined) return Math.floor(asOf)
  try {
    return Math.min(Math.floor(statSync(file).mtimeMs), ctx.now())
  } catch {
    throw invalid('file', `cannot read ${file}`)
  }
}

/**
 * Rows that are not taken: of another type of license, or rejected. All are counted, the first
 * rejected ones are kept.
 */
export class Rejects {
  readonly #skipped: Record<string, number> = {}
  readonly #reasons = new Map<string, number>()
  readonly #first: BrokenLine[] = []
  #count = 0

  add(fault: BrokenLine): void {
    this.#count++
    this.#reasons.set(fault.reason, (this.#reasons.get(fault.reason) ?? 0) + 1)
    if (this.#first.length < NAMED) this.#first.push(fault)
  }

  /** The license of a row, if its type is taken; null for a row that is counted here instead. */
  licenseOf(
    { line, cells }: { line: number; cells: readonly string[] },
    license: License | { reason: string },
    types: ReadonlySet<string>,
  ): License | null {
    if ('reason' in license) this.add(shown(line, cells, license.reason))
    else if (types.has(license.type)) return license
    else this.#skipped[license.type] = (this.#skipped[license.type] ?? 0) + 1
    return null
  }

  report(): Pick<ListReport, 'skipped' | 'rejected' | 'reasons' | 'rejects'> {
    return {
      skipped: this.#skipped,
      rejected: this.#count,
      reasons: Object.fromEntries([...this.#reasons].sort((a, b) => b[1] - a[1])),
      rejects: this.#first.sort((a, b) => a.line - b.line),
    }
  }
}

export const TWICE = 'the dealer stands in the list twice, and this license is not the later one'

/** A row as it is shown to the operator. */
export function shown(line: number, cells: readonly string[], reason: string): BrokenLine {
  return { line, reason, text: cells.join(' | ').slice(0, KEPT_TEXT) }
}
