/** What this browser remembers: the theme and the shop that was looked at last. */
import { computed, effect, signal } from '@preact/signals'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export const theme = signal<Theme>('system')
/** What the system asks for. */
const systemIsDark = signal(false)
export const isDark = computed(() =>
  theme.value === 'system' ? systemIsDark.value : theme.value === 'dark',
)
/** Name of the shop whose catalog, configuration and orders are shown; null: the first. */
export const chosenShop = signal<string | null>(null)

const THEME = 'quartermaster.theme'
const SHOP = 'quartermaster.shop'

/** Takes up what was remembered, and remembers from now on. */
export function rememberSettings(): void {
  const saved = readText(THEME)
  theme.value = THEMES.find((one) => one === saved) ?? 'system'
  chosenShop.value = readText(SHOP)
  const system = window.matchMedia('(prefers-color-scheme: dark)')
  systemIsDark.value = system.matches
  system.addEventListener('change', ({ matches }) => {
    systemIsDark.value = matches
  })
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value
    writeText(THEME, theme.value === 'system' ? null : theme.value)
  })
  effect(() => writeText(SHOP, chosenShop.value))
}

/** A browser may refuse to remember anything. */
function readText(name: string): string | null {
  try {
    return window.localStorage.getItem(name)
  } catch {
    return null
  }
}

function writeText(name: string, text: string | null): void {
  try {
    if (text === null) window.localStorage.removeItem(name)
    else window.localStorage.setItem(name, text)
  } catch {
    // It is chosen anew the next time.
  }
}
