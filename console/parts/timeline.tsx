/** What happened, oldest first. */
import type { ComponentChildren } from 'preact'
import type { Tone } from './basics.js'
import { When } from './basics.js'

export interface Happening {
  key: string
  at: string
  what: ComponentChildren
  /** Whose news it is: the journal, a record, a parcel. */
  source?: ComponentChildren
  tone?: Tone
}

export function Timeline({ label, happenings }: { label: string; happenings: Happening[] }) {
  return (
    <ol class="timeline" aria-label={label}>
      {happenings.map(({ key, at, what, source, tone = 'calm' }) => (
        <li key={key} class={tone}>
          <div class="what">{what}</div>
          <div class="quiet">
            <When at={at} />
            {source && <> · {source}</>}
          </div>
        </li>
      ))}
    </ol>
  )
}
