/** What lies over the page. */
import { signal } from '@preact/signals'

export const opened = signal<'palette' | 'help' | null>(null)
