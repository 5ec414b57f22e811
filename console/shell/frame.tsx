/** The frame around every page: where one can go, which shop is looked at, who is signed in. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { PageName } from '../core/keys.js'
import { linkTo, place } from '../core/router.js'
import { session, signOut } from '../core/session.js'
import { THEMES, chosenShop, theme } from '../core/settings.js'
import { useShops } from '../core/shops.js'
import { Button } from '../parts/basics.js'
import { Dialog } from '../parts/dialog.js'
import { Select } from '../parts/fields.js'
import { Icon } from '../parts/icons.js'
import type { IconName } from '../parts/icons.js'
import { act } from '../parts/toast.js'
import { texts } from '../texts.js'
import { opened } from './opened.js'
import { useWaiting } from './waiting.js'

const GROUPS: readonly { name: keyof typeof texts.groups | null; pages: readonly PageName[] }[] = [
  { name: null, pages: ['today', 'orders', 'catalog', 'analytics'] },
  { name: 'supply', pages: ['feeds', 'distributors', 'configuration'] },
  { name: 'law', pages: ['restrictions', 'dealers', 'fraud'] },
  { name: 'server', pages: ['accounts', 'operating'] },
]

export function Frame({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  const current = place.value
  useEffect(() => setOpen(false), [current])
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skipToContent}>
        {texts.shell.skip}
      </a>
      <header class="topbar">
        <Button kind="quiet" label={texts.shell.menu} onClick={() => setOpen(true)}>
          <Icon name="menu" />
        </Button>
        <a class="brand" href={linkTo(['today'])}>
          {texts.product}
        </a>
        <Button kind="quiet" label={texts.shell.find} onClick={() => (opened.value = 'palette')}>
          <Icon name="search" />
        </Button>
      </header>
      <Sidebar />
      {isOpen && (
        <div class="drawer">
          <Drawer onClose={() => setOpen(false)} />
        </div>
      )}
      <main id="content" tabIndex={-1}>
        <div class="page">{children}</div>
      </main>
    </div>
  )
}

/** The fragment of the address is the page's own, so the skip does without. */
function skipToContent(event: Event): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}

function Drawer({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={texts.product} onClose={onClose} className="drawer">
      <Sidebar />
    </Dialog>
  )
}

function Sidebar() {
  const [current = 'today'] = place.value.path
  const waiting = useWaiting()
  return (
    <aside class="sidebar" aria-label={texts.shell.menu}>
      <a class="brand" href={linkTo(['today'])}>
        {texts.product}
      </a>
      <button type="button" class="find" onClick={() => (opened.value = 'palette')}>
        <Icon name="search" />
        {texts.shell.find}
        <kbd>{texts.keys.palette}</kbd>
      </button>
      <ShopChooser />
      <nav aria-label={texts.shell.pages}>
        {GROUPS.map(({ name, pages }) => (
          <div key={name} class="nav-group">
            {name && <p class="group">{texts.groups[name]}</p>}
            {pages.map((page) => (
              <a
                key={page}
                href={linkTo([page])}
                aria-current={page === current ? 'page' : undefined}
              >
                <Icon name={page satisfies IconName} />
                {texts.pages[page]}
                {(waiting[page] ?? 0) > 0 && (
                  <span class="count warn" aria-label={texts.shell.waiting(waiting[page]!)}>
                    {waiting[page]}
                  </span>
                )}
              </a>
            ))}
          </div>
        ))}
      </nav>
      <div class="foot">
        <ThemeSwitch />
        <Who />
      </div>
    </aside>
  )
}

function ShopChooser() {
  const { shops, shop } = useShops()
  if (shops.length < 2 || !shop) return null
  return (
    <div class="shop">
      <Select
        label={texts.words.shop}
        isPlain
        value={shop}
        options={shops.map(({ name }) => name)}
        onChange={(name) => (chosenShop.value = name)}
      />
    </div>
  )
}

function ThemeSwitch() {
  const icons = { system: 'system', light: 'sun', dark: 'moon' } as const
  return (
    <div class="theme" role="group" aria-label={texts.shell.theme}>
      {THEMES.map((one) => (
        <button
          key={one}
          type="button"
          aria-pressed={theme.value === one}
          aria-label={texts.themes[one]}
          title={texts.themes[one]}
          onClick={() => (theme.value = one)}
        >
          <Icon name={icons[one]} />
        </button>
      ))}
    </div>
  )
}

function Who() {
  const current = session.value
  if (!current?.signed_in) return null
  return (
    <div class="who">
      <span class="grow">
        {current.name} <span class="quiet">{current.role === 'viewer' && texts.shell.viewer}</span>
      </span>
      <Button kind="quiet" label={texts.shell.signOut} onClick={() => act(signOut)}>
        <Icon name="out" />
      </Button>
    </div>
  )
}
