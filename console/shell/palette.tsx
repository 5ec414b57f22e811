/** Goes anywhere and looks anything up: Ctrl-K. */
import { useEffect, useState } from 'preact/hooks'
import { GO_KEYS } from '../core/keys.js'
import type { PageName } from '../core/keys.js'
import { go, linkTo } from '../core/router.js'
import { THEMES, chosenShop, theme } from '../core/settings.js'
import { useShops } from '../core/shops.js'
import { useShown } from '../parts/dialog.js'
import { Icon } from '../parts/icons.js'
import type { IconName } from '../parts/icons.js'
import { texts } from '../texts.js'
import { ACTIONS } from './actions.js'
import { opened } from './opened.js'

interface Choice {
  key: string
  icon: IconName
  label: string
  hint?: string
  run: () => void
}

const PAGES = Object.entries(GO_KEYS) as [string, PageName][]

function fixedChoices(shops: readonly string[]): Choice[] {
  return [
    ...PAGES.map(([letter, page]) => ({
      key: page,
      icon: page,
      label: texts.pages[page],
      hint: `g ${letter}`,
      run: () => go(linkTo([page])),
    })),
    ...ACTIONS.map(({ key, page, to }) => ({
      key,
      icon: page,
      label: texts.actions[key],
      hint: texts.pages[page],
      run: () => go(to),
    })),
    ...shops.map((name) => ({
      key: `shop ${name}`,
      icon: 'accounts' as const,
      label: texts.palette.lookAt(name),
      run: () => {
        chosenShop.value = name
      },
    })),
    ...THEMES.map((one) => ({
      key: `theme ${one}`,
      icon: 'sun' as const,
      label: texts.palette.theme(texts.themes[one]),
      run: () => {
        theme.value = one
      },
    })),
  ]
}

/** What a text may be looked up as. */
function lookups(text: string): Choice[] {
  if (text === '') return []
  const isUpc = /^\d{8,14}$/.test(text)
  return [
    ...(isUpc
      ? [
          {
            key: 'upc',
            icon: 'catalog' as const,
            label: texts.palette.item(text),
            run: () => go(linkTo(['catalog', text])),
          },
        ]
      : []),
    {
      key: 'find-orders',
      icon: 'orders',
      label: texts.palette.orders(text),
      run: () => go(linkTo(['orders'], { search: text })),
    },
    {
      key: 'find-items',
      icon: 'catalog',
      label: texts.palette.items(text),
      run: () => go(linkTo(['catalog'], { q: text })),
    },
    {
      key: 'find-dealers',
      icon: 'dealers',
      label: texts.palette.dealers(text),
      run: () => go(linkTo(['dealers'], { q: text })),
    },
  ]
}

export function Palette() {
  const element = useShown()
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const { shops } = useShops()
  const wanted = text.trim().toLowerCase().split(/\s+/)
  const choices = [
    ...fixedChoices(shops.length > 1 ? shops.map(({ name }) => name) : []).filter(
      ({ label, hint = '' }) =>
        wanted.every((word) => `${label} ${hint}`.toLowerCase().includes(word)),
    ),
    ...lookups(text.trim()),
  ]
  const chosen = choices[Math.min(at, choices.length - 1)]
  useEffect(() => {
    element.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  const close = () => {
    opened.value = null
  }
  function choose(choice: Choice | undefined) {
    close()
    choice?.run()
  }
  function onKey(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setAt((at + step + choices.length) % Math.max(1, choices.length))
    else if (event.key === 'Enter') choose(chosen)
    else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={element}
      class="palette"
      aria-label={texts.palette.title}
      onCancel={close}
      onClick={(event) => event.target === element.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={chosen && `choice-${choices.indexOf(chosen)}`}
        aria-label={texts.palette.title}
        placeholder={texts.palette.placeholder}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKey}
      />
      <ul id="choices" role="listbox" aria-label={texts.palette.choices}>
        {choices.map((choice, place) => (
          <li
            key={choice.key}
            id={`choice-${place}`}
            role="option"
            aria-selected={choice === chosen}
            onClick={() => choose(choice)}
            onMouseMove={() => setAt(place)}
          >
            <Icon name={choice.icon} />
            {choice.label}
            {choice.hint && <span class="hint">{choice.hint}</span>}
          </li>
        ))}
      </ul>
    </dialog>
  )
}
