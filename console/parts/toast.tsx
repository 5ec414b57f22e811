/** What was done, told for some seconds at the edge of the page. */
import { signal } from '@preact/signals'
import { CallError } from '../core/call.js'
import { Icon } from './icons.js'

interface Toast {
  id: number
  text: string
  isFault: boolean
}

const toasts = signal<readonly Toast[]>([])
const SHOWN = 6_000

export function tell(text: string, { isFault = false } = {}): void {
  const id = (toasts.value.at(-1)?.id ?? 0) + 1
  toasts.value = [...toasts.value, { id, text, isFault }]
  window.setTimeout(() => {
    toasts.value = toasts.value.filter((toast) => toast.id !== id)
  }, SHOWN)
}

/** Takes back what was told: whoever stands at the door has no business with it. */
export function forgetToasts(): void {
  toasts.value = []
}

/** Does something that has no form of its own, and tells how it went. */
export async function act(doIt: () => Promise<string | void>): Promise<void> {
  try {
    const text = await doIt()
    if (text) tell(text)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    tell(error.message, { isFault: true })
  }
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, isFault }) => (
        <p key={id} class={isFault ? 'toast wrong' : 'toast'}>
          <Icon name={isFault ? 'bad' : 'good'} />
          {text}
        </p>
      ))}
    </div>
  )
}
