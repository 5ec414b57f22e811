/** Bars of things that have names: the name, the bar, the figure. */
import type { ComponentChildren } from 'preact'

export interface Bar {
  name: string
  value: number
  shown: ComponentChildren
  href?: string
}

export function Bars({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ value }) => value), 0) || 1
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, value, shown, href }) => (
        <li key={name + href}>
          {href ? <a href={href}>{name}</a> : <span>{name}</span>}
          <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
            <rect width={Math.max(0.5, (value / most) * 100)} height="10" rx="1" />
          </svg>
          <span class="number">{shown}</span>
        </li>
      ))}
    </ul>
  )
}
