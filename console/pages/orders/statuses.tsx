/** What has become of an order, in color. */
import { words } from '../../core/format.js'
import { Badge } from '../../parts/basics.js'
import type { Tone } from '../../parts/basics.js'

const TONES: Readonly<Record<string, Tone>> = {
  // Of a record
  Pending: 'warn',
  Submitted: 'accent',
  'FFL Hold': 'warn',
  Backordered: 'warn',
  'Partially Fulfilled': 'accent',
  'Not Fulfilled': 'bad',
  Fulfilled: 'good',
  // Of a parcel
  delivered: 'good',
  failure: 'bad',
  return_to_sender: 'bad',
  // Of a purchase order
  planned: 'calm',
  sending: 'accent',
  placed: 'good',
  rejected: 'bad',
  unknown: 'warn',
  review: 'bad',
  expired: 'bad',
}

export function Status({ status }: { status: string | null }) {
  if (status === null) return <span class="quiet">–</span>
  return <Badge tone={TONES[status] ?? 'calm'}>{words(status)}</Badge>
}

/** Real orders stand out; simulated ones say so. */
export function Mode({ mode }: { mode: string }) {
  return <Badge tone={mode === 'live' ? 'bad' : 'calm'}>{mode}</Badge>
}
