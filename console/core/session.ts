/** Who is signed in here, and the door in front of it. */
import { computed, signal } from '@preact/signals'
import { CallError, call, callAs, read } from './call.js'
import { forgetReadings } from './use-call.js'

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
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'set_password') throw error
    const { name } = error.details as { name: string }
    linkToSetPassword.value = { token, name }
  }
}

/** Asks who is signed in; the pages follow. */
export async function readSession(): Promise<void> {
  try {
    session.value = await read<Session>('/operator/session')
    sessionError.value = undefined
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    sessionError.value = error
  }
}

/** Calls go with the session's token from now on, and a session that ended leads to the door. */
export function callWithSession(): void {
  callAs({
    csrf: () => session.value?.csrf ?? null,
    signedOut() {
      forgetReadings()
      if (session.value) session.value = { ...session.value, signed_in: false, csrf: null }
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
