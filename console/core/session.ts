/** Who is signed in here, and the door in front of it. */
import { computed, signal } from '@preact/signals'
import { CallError, call, callAs, read } from './call.js'
import { forgetReadings, readAnew } from './use-call.js'

export interface Session {
  signed_in: boolean
  role: 'operator' | 'viewer' | null
  name: string | null
  csrf: string | null
  password_set: boolean
  totp: boolean
  expires_at: string | null
}

/** Undefined until the server has been asked. */
export const session = signal<Session | undefined>(undefined)
/** Why the server could not be asked. */
export const sessionError = signal<CallError | undefined>(undefined)

export const isViewer = computed(() => session.value?.role === 'viewer')

/**
 * Milliseconds for which a page waits, unseen, behind the door after its sign-in has ended: what
 * somebody has typed is there once the same person has signed in again.
 */
const BEHIND_THE_DOOR = 15 * 60_000
let forgetting: number | undefined

/** A question for the password, while one stands open. */
export const confirmation = signal<{
  isFirst: boolean
  settle: (isConfirmed: boolean) => void
} | null>(null)

/** A link of the command line that wants a password to be chosen with it, and for whom it is. */
export const linkToSetPassword = signal<{ token: string; name: string } | null>(null)

/** Signs in by a link; one that is for choosing a password waits for it. Throws a CallError. */
export async function comeByLink(token: string): Promise<void> {
  try {
    await call('session.start', { token })
    tabs?.postMessage('changed')
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'set_password') throw error
    const { name } = error.details as { name: string }
    linkToSetPassword.value = { token, name }
  }
}

/** Asks who is signed in; the pages follow. */
export async function readSession(): Promise<void> {
  try {
    const before = session.value
    session.value = await read<Session>('/operator/session')
    sessionError.value = undefined
    if (!session.value.signed_in) return forgetReadings()
    window.clearTimeout(forgetting)
    if (before && !before.signed_in) readAnew()
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    sessionError.value = error
  }
}

/** Signs out, and leaves nothing of a page, here and in the other tabs. Throws a CallError. */
export async function signOut(): Promise<void> {
  await call('session.end', {})
  await changedSession()
}

/** Reads who is signed in after that has changed, and has the other tabs of this browser do so. */
export async function changedSession(): Promise<void> {
  await readSession()
  tabs?.postMessage('changed')
}

let tabs: BroadcastChannel | undefined

/** Calls go with the session's token from now on, and a session that ended leads to the door. */
export function callWithSession(): void {
  tabs = new BroadcastChannel('quartermaster')
  tabs.addEventListener('message', () => void readSession())
  callAs({
    csrf: () => session.value?.csrf ?? null,
    signedOut() {
      if (!session.value?.signed_in) return
      forgetReadings()
      session.value = { ...session.value, signed_in: false, csrf: null }
      forgetting = window.setTimeout(() => {
        if (session.value?.signed_in === false) session.value = { ...session.value, name: null }
      }, BEHIND_THE_DOOR)
    },
    async renew() {
      const before = session.value?.name
      await readSession()
      return session.value?.signed_in === true && session.value.name === before
    },
    confirm: (isFirst) =>
      new Promise((resolve) => {
        confirmation.value = {
          isFirst,
          settle(isConfirmed) {
            confirmation.value = null
            resolve(isConfirmed)
          },
        }
      }),
  })
}
