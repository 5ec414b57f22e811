/** The console: starts, asks who is signed in, and shows the page of the address. */
import { render } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { CallError } from './core/call.js'
import { startClock } from './core/format.js'
import { focusSearch, listenForKeys } from './core/keys.js'
import { followAddress, go, linkTo, place } from './core/router.js'
import {
  callWithSession,
  comeByLink,
  linkToSetPassword,
  readSession,
  session,
  sessionError,
} from './core/session.js'
import { useAgain } from './core/use-again.js'
import { rememberSettings } from './core/settings.js'
import { FaultNote, Waiting } from './parts/states.js'
import { Toasts, forgetToasts, tell } from './parts/toast.js'
import { pageOf } from './pages/index.js'
import { Boundary } from './shell/boundary.js'
import { ConfirmPassword, Door, FirstPassword } from './shell/door.js'
import { Frame } from './shell/frame.js'
import { Help } from './shell/help.js'
import { opened } from './shell/opened.js'
import { Palette } from './shell/palette.js'
import { texts } from './texts.js'
import './style/index.css'

function Console() {
  const current = session.value
  useAgain(sessionError.value, readSession)
  const wasIn = useRef(false)
  // Before the door is painted: not for one moment is anything of before beside it.
  useLayoutEffect(() => {
    if (wasIn.current && !current?.signed_in) forgetToasts()
    wasIn.current = current?.signed_in === true
  }, [current?.signed_in])
  if (sessionError.value && !current)
    return (
      <main class="door">
        <FaultNote error={sessionError.value} onRetry={readSession} />
      </main>
    )
  if (!current)
    return (
      <main class="door">
        <Waiting />
      </main>
    )
  const { signed_in: isIn, name } = current
  return (
    <>
      {name !== null && (
        // Unseen while its sign-in is over: what was typed is there after the next.
        <div hidden={!isIn} key={name}>
          <Pages />
        </div>
      )}
      {!isIn && (linkToSetPassword.value ? <FirstPassword /> : <Door over={name ?? undefined} />)}
      <ConfirmPassword />
      <Toasts />
    </>
  )
}

function Pages() {
  const { path } = place.value
  const [name = 'today'] = path
  const { title, Page } = pageOf(name)
  // Before the page is painted: a key that is pressed once it is seen finds the cursor where it stays.
  useLayoutEffect(() => {
    document.title = `${title} · ${texts.product}`
    window.scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }, [path.join('/')])
  return (
    <>
      <Frame>
        <Boundary key={path.join('/')}>
          <Page />
        </Boundary>
      </Frame>
      {opened.value === 'palette' && <Palette />}
      {opened.value === 'help' && <Help />}
    </>
  )
}

/** A link of the command line signs in once; the token leaves the address at once. */
async function followLink(): Promise<void> {
  const token = /^#(?:link|token)=(.+)$/.exec(window.location.hash)?.[1]
  if (token === undefined) return
  window.history.replaceState(null, '', window.location.pathname)
  try {
    await comeByLink(token)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    tell(error.message, { isFault: true })
  }
}

async function start(): Promise<void> {
  rememberSettings()
  callWithSession()
  await followLink()
  followAddress()
  startClock()
  listenForKeys({
    search: () => {
      if (!focusSearch()) opened.value = 'palette'
    },
    palette: () => {
      opened.value = opened.value === 'palette' ? null : 'palette'
    },
    help: () => {
      opened.value = 'help'
    },
    goTo: (page) => go(linkTo([page])),
  })
  render(<Console />, document.querySelector('#console')!)
  await readSession()
}

void start()
