/** Whether orders that a rule blocks are refused; turning it off asks why. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.restrictions

export function Enforcement() {
  const { data, reload } = useCall('rules.enforced', {})
  const [isAsking, setAsking] = useState(false)
  const [reason, setReason] = useState('')
  if (!data) return null
  return (
    <>
      <Badge tone={data.on ? 'good' : 'bad'}>{data.on ? t.enforced : t.notEnforced}</Badge>
      {!isViewer.value && (
        <Button kind={data.on ? 'plain' : 'primary'} onClick={() => setAsking(true)}>
          {data.on ? t.turnOff : t.turnOn}
        </Button>
      )}
      {isAsking && (
        <Dialog title={data.on ? t.turnOff : t.turnOn} onClose={() => setAsking(false)}>
          <ActForm
            act={data.on ? t.turnOff : t.turnOn}
            kind={data.on ? 'danger' : 'primary'}
            onCancel={() => setAsking(false)}
            isReady={!data.on || reason.trim() !== ''}
            doIt={async () => {
              const { on } = await call('rules.enforce', { on: !data.on, reason: reason || null })
              tell(on ? t.enforced : t.notEnforced)
              setAsking(false)
              setReason('')
              await reload()
            }}
          >
            <p>{data.on ? t.offMeans : t.onMeans}</p>
            {data.on && (
              <TextField label={t.why} value={reason} onInput={setReason} required isFirst />
            )}
          </ActForm>
        </Dialog>
      )}
    </>
  )
}
