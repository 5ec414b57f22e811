/** What stands where there is nothing to show: yet, at all, or because of a fault. */
import type { ComponentChildren } from 'preact'
import type { CallError } from '../core/call.js'
import { linkTo } from '../core/router.js'
import type { Read } from '../core/use-call.js'
import { texts } from '../texts.js'
import { Button } from './basics.js'
import { Icon } from './icons.js'

/** Says what to do next. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children && <p>{children}</p>}
      {action && <div class="actions">{action}</div>}
    </div>
  )
}

/** What is wrong, and what mends it. */
export function FaultNote({ error, onRetry }: { error: CallError; onRetry?: () => void }) {
  const mend = (texts.mends as Readonly<Record<string, string>>)[error.code]
  const at = (texts.mendsAt as Readonly<Record<string, readonly [string, string]>>)[error.code]
  return (
    <div class="fault" role="alert">
      <Icon name="bad" />
      <div>
        <p>{error.message}</p>
        {mend && <p class="quiet">{mend}</p>}
        {/* The message is about the first of them. */}
        {error.faults.length > 1 && (
          <ul>
            {error.faults.map(({ path, message }) => (
              <li key={path + message}>
                {path && <code>{path}</code>} {message}
              </li>
            ))}
          </ul>
        )}
        {(onRetry || at) && (
          <div class="actions">
            {at && (
              <a class="button" href={linkTo(at[1].split('/'))}>
                {at[0]}
              </a>
            )}
            {onRetry && <Button onClick={onRetry}>{texts.words.tryAgain}</Button>}
          </div>
        )}
      </div>
    </div>
  )
}

/** Lines in the height of what comes, so that nothing jumps. */
export function Waiting({ lines = 4 }: { lines?: number }) {
  return (
    <div class="waiting" role="status">
      <span class="unseen">{texts.words.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  )
}

/** What was read, once it is there; older data stays while newer is asked for. */
export function Loaded<T>({
  reading,
  lines,
  children,
}: {
  reading: Read<T>
  lines?: number
  children: (data: T) => ComponentChildren
}) {
  const { data, error, reload } = reading
  return (
    <>
      {error && <FaultNote error={error} onRetry={reload} />}
      {data === undefined ? !error && <Waiting lines={lines} /> : children(data)}
    </>
  )
}
