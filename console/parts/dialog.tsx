/** A dialog over the page: the browser's own, which keeps the focus and closes with Escape. */
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { CallError } from '../core/call.js'
import { texts } from '../texts.js'
import { Button } from './basics.js'
import type { ButtonProps } from './basics.js'
import { Icon } from './icons.js'
import { FaultNote } from './states.js'

/**
 * Shows a dialog over all that is there, from before it is painted until its part is gone: what is
 * typed once it is seen is for it, and the focus goes back to where it was.
 */
export function useShown(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const dialog = element.current
    if (!dialog) return undefined
    const before = document.activeElement
    dialog.showModal()
    // The browser puts the focus on the first button, also where a field has asked for it.
    dialog.querySelector<HTMLElement>('[data-focused]')?.focus()
    return () => {
      // While it is open, nothing behind it can have the focus.
      dialog.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return element
}

export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
  className,
}: {
  title: string
  onClose: () => void
  children: ComponentChildren
  isWide?: boolean
  className?: string
}) {
  const element = useShown()
  const heading = useId()
  return (
    <dialog
      ref={element}
      class={className ?? (isWide ? 'wide-dialog' : undefined)}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <Button kind="quiet" onClick={onClose} label={texts.words.close}>
          <Icon name="close" />
        </Button>
      </header>
      {children}
    </dialog>
  )
}

/** A form that does one thing, and shows at its place what the server refused. */
export function ActForm({
  act,
  doIt,
  kind = 'primary',
  onCancel,
  isReady = true,
  children,
}: {
  /** What the button says. */
  act: string
  doIt: () => Promise<void>
  kind?: ButtonProps['kind']
  onCancel?: () => void
  isReady?: boolean
  children: ComponentChildren
}) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<CallError>()
  async function submit(event: Event) {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    try {
      await doIt()
    } catch (caught) {
      if (!(caught instanceof CallError)) throw caught
      setError(caught)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="form" onSubmit={submit} noValidate>
      {children}
      {error && <FaultNote error={error} />}
      <div class="actions end">
        {onCancel && <Button onClick={onCancel}>{texts.words.cancel}</Button>}
        <Button type="submit" kind={kind} isBusy={isBusy} disabled={!isReady}>
          {act}
        </Button>
      </div>
    </form>
  )
}
