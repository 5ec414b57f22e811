/** The second factor of who is signed in: a code of a telephone beside the password. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { readSession, session } from '../../core/session.js'
import { Badge, Button, Copy, Section } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.operating

export function SecondFactor() {
  const [secret, setSecret] = useState<string | null>(null)
  const [code, setCode] = useState('')
  const isOn = session.value?.totp === true
  const propose = () =>
    act(async () => {
      setCode('')
      setSecret((await call('session.totp/propose', {})).secret)
    })
  const disable = () =>
    act(async () => {
      await call('session.totp/disable', {})
      await readSession()
      return t.factorOff
    })
  return (
    <Section
      title={t.secondFactor}
      note={t.factorNote}
      aside={
        <>
          <Badge tone={isOn ? 'good' : 'calm'}>{isOn ? t.isSet : t.notSet}</Badge>
          <Button onClick={isOn ? disable : propose}>
            {isOn ? t.factorDisable : t.factorEnable}
          </Button>
        </>
      }
    >
      <div class="body" />
      {secret !== null && (
        <Dialog title={t.factorEnable} onClose={() => setSecret(null)}>
          <ActForm
            act={t.factorEnable}
            onCancel={() => setSecret(null)}
            isReady={/^\d{6}$/.test(code)}
            doIt={async () => {
              await call('session.totp/enable', { secret, code })
              setSecret(null)
              await readSession()
            }}
          >
            <p>{t.factorSecret}</p>
            <div class="row">
              <code class="key">{secret}</code>
              <Copy text={secret} label={texts.words.copy} />
            </div>
            <TextField label={t.code} autocomplete="one-time-code" value={code} onInput={setCode} />
          </ActForm>
        </Dialog>
      )}
    </Section>
  )
}
