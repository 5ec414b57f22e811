/** The objects of the journal's copy: their names, which say what they hold, and their list. */
import { DAY, dayOf } from '../../core/clock.js'
import type { ObjectStore } from '../../objects/store.js'
import type { OrdersCtx } from '../ctx.js'
import { journalSealer } from './chain.js'

/** What a look at the copy needs: a folder that nobody has opened will do. */
export interface CopyCtx extends Pick<OrdersCtx, 'read' | 'now'> {
  readonly secrets: Pick<OrdersCtx['secrets'], 'of'>
}

/** An object of the copy: the lines from one to another. */
export interface CopySegment {
  first: number
  last: number
  /** When its last line was written. Milliseconds since 1970. */
  at: number
  mac: string
}

/** Days that are listed one by one; a longer time is listed whole. */
const FEW_DAYS = 40
const DIGITS = 12

/** Installations that share a bucket keep apart, and one that was restored finds its own again. */
function folderOf(ctx: CopyCtx): string {
  return `journal/${journalSealer(ctx).fingerprint('copy of the journal').slice(0, 22)}/`
}

/** The key of a segment in its store. */
export function nameOf(ctx: CopyCtx, { first, last, at, mac }: CopySegment): string {
  const number = (n: number) => String(n).padStart(DIGITS, '0')
  return `${folderOf(ctx)}${dayOf(at)}/${number(first)}.${number(last)}.${at}.${mac}`
}

const NAME = /\/(\d{12,15})\.(\d{12,15})\.(\d{1,15})\.([\w-]{43})$/

/** What the seal of a segment is bound to: it opens nowhere else. */
export function sealedAs({ first, last }: Pick<CopySegment, 'first' | 'last'>): string {
  return `lines ${first} to ${last} of the journal`
}

/**
 * Objects of the copy by their last line: of the days from `lastAt` on, or all of them. Those that
 * are no segment are left out.
 */
export async function listSegments(
  ctx: CopyCtx,
  store: ObjectStore,
  lastAt: number | null,
): Promise<CopySegment[]> {
  const folder = folderOf(ctx)
  const from = lastAt === null ? -Infinity : Math.min(lastAt, ctx.now()) - DAY
  const days = Math.ceil((ctx.now() + DAY - from) / DAY)
  const prefixes =
    days > FEW_DAYS
      ? []
      : Array.from({ length: days + 1 }, (_, day) => `${folder}${dayOf(from + day * DAY)}/`)
  const segments: CopySegment[] = []
  // Where there is none of those days, the copy may have fallen far behind.
  for (const prefix of [...prefixes, folder]) {
    if (prefix === folder && segments.length > 0) break
    for (const { key } of await store.list(prefix)) {
      const [, first, last, at, mac] = NAME.exec(key) ?? []
      if (mac !== undefined)
        segments.push({ first: Number(first), last: Number(last), at: Number(at), mac })
    }
  }
  return segments.sort((a, b) => a.last - b.last || a.at - b.at)
}

/** When a line was written. */
export function timeOf(line: string): number {
  return (JSON.parse(line) as { at: number }).at
}
