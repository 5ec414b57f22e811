/** Keys that do something wherever no text is being written. */

/** Letters after `g`, and where they lead. */
export const GO_KEYS = {
  t: 'today',
  o: 'orders',
  c: 'catalog',
  f: 'feeds',
  d: 'distributors',
  s: 'configuration',
  r: 'restrictions',
  l: 'dealers',
  x: 'fraud',
  k: 'accounts',
  a: 'analytics',
  p: 'operating',
} as const
export type PageName = (typeof GO_KEYS)[keyof typeof GO_KEYS]

export interface KeyActs {
  search(): void
  palette(): void
  help(): void
  goTo(page: PageName): void
}

/** How long `g` waits for its letter, in milliseconds. */
const CHORD = 1_200

/** Listens from now on. */
export function listenForKeys(acts: KeyActs): void {
  let chordUntil = 0
  window.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      acts.palette()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
    if (document.querySelector('dialog[open]')) return
    const isChord = event.timeStamp < chordUntil
    chordUntil = 0
    const page = isChord ? GO_KEYS[event.key as keyof typeof GO_KEYS] : undefined
    if (page) acts.goTo(page)
    else if (event.key === 'g') chordUntil = event.timeStamp + CHORD
    else if (event.key === '/') acts.search()
    else if (event.key === '?') acts.help()
    else if (event.key === 'j' || event.key === 'k') moveInRows(event.key === 'j' ? 1 : -1)
    else return
    event.preventDefault()
  })
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}

/** The next or the previous row that leads somewhere. */
function moveInRows(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = rows.findIndex((row) => row === document.activeElement)
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step
  rows[next]?.focus()
}

/** Puts the cursor into the search of the page; whether it has one. */
export function focusSearch(): boolean {
  const field = document.querySelector<HTMLInputElement>('main [data-search]')
  field?.focus()
  field?.select()
  return field !== null
}
