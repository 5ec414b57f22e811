/** Signing in, the first password, and the password that some acts ask for again. */
import { useState } from 'preact/hooks'
import { CallError, call } from '../core/call.js'
import {
  changedSession,
  confirmation,
  linkToSetPassword,
  readSession,
  session,
} from '../core/session.js'
import { ActForm, Dialog, useShown } from '../parts/dialog.js'
import { TextField } from '../parts/fields.js'
import { texts } from '../texts.js'

const t = texts.door

/** `over`: whose page waits behind it; undefined where there is none. */
export function Door({ over }: { over: string | undefined }) {
  return over === undefined ? (
    <main class="door">
      <SignIn name="" />
    </main>
  ) : (
    <SignInAgain name={over} />
  )
}

/** Over a page with dialogs of its own, which only another dialog can lie in front of. */
function SignInAgain({ name }: { name: string }) {
  const element = useShown()
  return (
    <dialog
      ref={element}
      class="door"
      aria-label={t.title}
      onCancel={(event) => event.preventDefault()}
    >
      <SignIn name={name} why={t.over} />
    </dialog>
  )
}

function SignIn({ name: first, why }: { name: string; why?: string }) {
  const [name, setName] = useState(first)
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [isCodeNeeded, setCodeNeeded] = useState(false)
  async function signIn() {
    try {
      await call('session.start', {
        password,
        ...(name.trim() && { name: name.trim() }),
        ...(code && { totp: code }),
      })
    } catch (error) {
      if (error instanceof CallError && error.code === 'code_needed') setCodeNeeded(true)
      throw error
    }
    await changedSession()
  }
  return (
    <div class="card">
      <h1>{t.title}</h1>
      {why !== undefined && <p>{why}</p>}
      <ActForm act={t.signIn} isReady={password !== ''} doIt={signIn}>
        <TextField
          label={t.name}
          help={t.nameHelp}
          autocomplete="username"
          value={name}
          onInput={setName}
        />
        <TextField
          label={t.password}
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          isFirst
        />
        {isCodeNeeded && (
          <TextField
            label={t.totp}
            autocomplete="one-time-code"
            value={code}
            onInput={setCode}
            isFirst
          />
        )}
      </ActForm>
      <p class="quiet">{t.link}</p>
    </div>
  )
}

const SHORTEST = 12

/** Two fields for a password that is chosen; `onChange` hears it once it can be taken. */
function NewPassword({ onChange }: { onChange: (password: string | null) => void }) {
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const choose = (next: string, repeated: string) => {
    setPassword(next)
    setAgain(repeated)
    onChange(next.length >= SHORTEST && next === repeated ? next : null)
  }
  const isShort = password !== '' && password.length < SHORTEST
  return (
    <>
      <TextField
        label={t.password}
        type="password"
        autocomplete="new-password"
        value={password}
        onInput={(next) => choose(next, again)}
        help={t.atLeast(SHORTEST)}
        fault={isShort ? t.tooShort(SHORTEST) : undefined}
        isFirst
      />
      <TextField
        label={t.again}
        type="password"
        autocomplete="new-password"
        value={again}
        onInput={(next) => choose(password, next)}
        fault={again !== '' && again !== password ? t.differs : undefined}
      />
    </>
  )
}

/** Who came by a link sets the password by which one comes from then on. */
export function FirstPassword() {
  const [password, setPassword] = useState<string | null>(null)
  const link = linkToSetPassword.value
  if (!link) return null
  return (
    <main class="door">
      <div class="card">
        <h1>{t.choose}</h1>
        <p class="quiet">{t.chooseWhy(link.name)}</p>
        <ActForm
          act={t.setPassword}
          isReady={password !== null}
          doIt={async () => {
            await call('session.start', { token: link.token, password: password! })
            linkToSetPassword.value = null
            await changedSession()
          }}
        >
          <NewPassword onChange={setPassword} />
          <input type="text" hidden readOnly autocomplete="username" value={link.name} />
        </ActForm>
      </div>
    </main>
  )
}

/** Asks for the password before an act that costs money or takes a protection away. */
export function ConfirmPassword() {
  const [password, setPassword] = useState<string | null>(null)
  const asked = confirmation.value
  if (!asked) return null
  const { isFirst, settle } = asked
  async function confirm() {
    if (isFirst) {
      await call('session.password', { password: password! })
      await readSession()
    }
    await call('session.confirm', { password: password! })
    setPassword(null)
    settle(true)
  }
  return (
    <Dialog title={isFirst ? t.choose : texts.confirm.title} onClose={() => settle(false)}>
      <ActForm
        act={texts.confirm.act}
        isReady={Boolean(password)}
        onCancel={() => settle(false)}
        doIt={confirm}
      >
        <p>{isFirst ? texts.confirm.first : texts.confirm.why}</p>
        {isFirst ? (
          <NewPassword onChange={setPassword} />
        ) : (
          <TextField
            label={t.password}
            type="password"
            autocomplete="current-password"
            value={password ?? ''}
            onInput={setPassword}
            isFirst
          />
        )}
        <input type="hidden" autocomplete="username" value={session.value?.name ?? ''} />
      </ActForm>
    </Dialog>
  )
}
