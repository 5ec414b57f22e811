/** A secret that was made just now: the only time that anybody sees it. */
import { Button, Copy } from './basics.js'
import { Dialog } from './dialog.js'
import { Icon } from './icons.js'

export function ShownOnce({
  text,
  words,
  onClose,
}: {
  text: string
  words: { title: string; note: string; copy: string; kept: string }
  onClose: () => void
}) {
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div class="form">
        <div class="notice">
          <Icon name="warn" />
          <p>{words.note}</p>
        </div>
        <div class="row">
          <code class="key">{text}</code>
          <Copy text={text} label={words.copy} />
        </div>
        <div class="actions end">
          <Button kind="primary" onClick={onClose}>
            {words.kept}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
