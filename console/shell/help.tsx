/** The keys, told. */
import { GO_KEYS } from '../core/keys.js'
import { Dialog } from '../parts/dialog.js'
import { texts } from '../texts.js'
import { opened } from './opened.js'

export function Help() {
  const keys: [string, string][] = [
    [texts.keys.palette, texts.help.palette],
    ['/', texts.help.search],
    ['j k', texts.help.rows],
    ['Esc', texts.help.close],
    ['?', texts.help.help],
    ...Object.entries(GO_KEYS).map(([letter, page]): [string, string] => [
      `g ${letter}`,
      texts.pages[page],
    ]),
  ]
  return (
    <Dialog title={texts.help.title} onClose={() => (opened.value = null)}>
      <dl class="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
