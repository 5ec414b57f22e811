/** Where in the console we are: the fragment of the address, as `#/orders/W-1?subscriber=Shop`. */
import { computed, signal } from '@preact/signals'

export interface Place {
  /** Parts of the path: `['orders', 'W-1']`. */
  path: readonly string[]
  query: Readonly<Record<string, string>>
}

const hash = signal('')

export const place = computed<Place>(() => readPlace(hash.value))

/** Follows the address from now on. */
export function followAddress(): void {
  const follow = () => {
    hash.value = window.location.hash
  }
  window.addEventListener('hashchange', follow)
  follow()
}

export function readPlace(fragment: string): Place {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?', 2)
  return {
    path: path.split('/').filter(Boolean).map(decoded),
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The address of a place: `linkTo(['orders', id], { state: 'review' })`. */
export function linkTo(
  path: readonly string[],
  query: Readonly<Record<string, string | number | boolean | undefined | null>> = {},
): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== undefined && value !== null && value !== '' && value !== false,
  )
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return `#/${path.map(encodeURIComponent).join('/')}${search && `?${search}`}`
}

export function go(address: string): void {
  window.location.hash = address
}

/** Changes members of the query; the step back leads over them, not through them. */
export function refine(
  changes: Record<string, string | number | boolean | undefined | null>,
): void {
  const { path, query } = place.value
  window.location.replace(linkTo(path, { ...query, ...changes }))
}
