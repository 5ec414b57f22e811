/** Small things that every page is made of. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { ago, exact, now, timeOf } from '../core/format.js'
import { texts } from '../texts.js'
import { Icon } from './icons.js'
import { showCurrent, useSideways } from './sideways.js'

export type Tone = 'calm' | 'good' | 'warn' | 'bad' | 'accent'

export function Badge({ tone = 'calm', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>
}

/** A time as a person tells it, the exact one beside it when asked for. */
export function When({ at, none = '–' }: { at: string | null | undefined; none?: string }) {
  if (!at) return <span class="quiet">{none}</span>
  const time = timeOf(at)
  return (
    <time dateTime={new Date(time).toISOString()} title={exact(time)}>
      {ago(time, now.value)}
    </time>
  )
}

export interface ButtonProps {
  children: ComponentChildren
  onClick?: () => void
  kind?: 'plain' | 'primary' | 'danger' | 'quiet'
  type?: 'button' | 'submit'
  disabled?: boolean
  isBusy?: boolean
  label?: string
}

export function Button({
  children,
  onClick,
  kind = 'plain',
  type = 'button',
  disabled = false,
  isBusy = false,
  label,
}: ButtonProps) {
  return (
    <button
      type={type}
      class={`button ${kind}`}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
      aria-label={label}
      onClick={onClick}
    >
      {children}
    </button>
  )
}

/** A text to be taken elsewhere. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false)
  async function copy() {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    window.setTimeout(() => setCopied(false), 1_500)
  }
  return (
    <Button kind="quiet" onClick={copy} label={label}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      {isCopied ? texts.words.copied : texts.words.copy}
    </Button>
  )
}

/** A section of a page. */
export function Section({
  title,
  aside,
  note,
  children,
  id,
}: {
  title: string
  aside?: ComponentChildren
  note?: ComponentChildren
  children: ComponentChildren
  id?: string
}) {
  const heading = `section-${id ?? title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`
  return (
    <section class="section" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        {aside && <div class="aside">{aside}</div>}
      </header>
      {note && <p class="note">{note}</p>}
      {children}
    </section>
  )
}

/** What a page is called, the question that it answers, and what can be done here. */
export function PageHead({
  title,
  question,
  back,
  actions,
}: {
  title: ComponentChildren
  question?: ComponentChildren
  back?: { href: string; label: string }
  actions?: ComponentChildren
}) {
  return (
    <header class="page-head">
      <div>
        {back && (
          <a class="back" href={back.href}>
            <Icon name="back" />
            {back.label}
          </a>
        )}
        <h1 tabIndex={-1}>{title}</h1>
        {question && <p class="question">{question}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  )
}

/** Names and values, as pairs. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Pages of one thing; each is a link, so that the way back leads over them. */
export function Tabs({
  label,
  tabs,
}: {
  label: string
  tabs: readonly { href: string; label: string; isCurrent: boolean; count?: number }[]
}) {
  const ref = useSideways<HTMLElement>()
  const current = tabs.find(({ isCurrent }) => isCurrent)?.href
  useLayoutEffect(() => {
    if (ref.current) showCurrent(ref.current)
  }, [current])
  return (
    <div class="sideways">
      <nav class="tabs" aria-label={label} ref={ref}>
        {tabs.map((tab) => (
          <a key={tab.href} href={tab.href} aria-current={tab.isCurrent ? 'page' : undefined}>
            {tab.label}
            {tab.count !== undefined && <span class="count">{tab.count}</span>}
          </a>
        ))}
      </nav>
    </div>
  )
}
