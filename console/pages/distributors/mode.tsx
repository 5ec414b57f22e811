/** Going live, in words and with the distid typed; and back to the simulator. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { useCall } from '../../core/use-call.js'
import { Badge } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.distributors

interface ModeProps {
  distid: string
  onClose: () => void
  onDone: () => Promise<void>
}

export function GoLive({ distid, name, onClose, onDone }: ModeProps & { name: string }) {
  const plan = useCall('distributors.planGoLive', { distid })
  const [typed, setTyped] = useState('')
  const [reason, setReason] = useState('')
  return (
    <Dialog title={t.goLiveWith(name)} onClose={onClose} isWide>
      <ActForm
        act={t.goLive}
        kind="danger"
        onCancel={onClose}
        isReady={plan.data !== undefined && typed === distid && reason.trim() !== ''}
        doIt={async () => {
          await call('distributors.goLive', { distid, reason })
          tell(t.isLive(name))
          await onDone()
        }}
      >
        <div class="notice">
          <Icon name="warn" />
          <p>{t.goLiveMeans}</p>
        </div>
        <Loaded reading={plan}>
          {({ addresses, shops }) => (
            <>
              <p>
                {t.sentTo} <code>{addresses.join(', ')}</code>
              </p>
              <Table
                label={t.accounts}
                rows={shops}
                keyOf={({ subscriber }) => subscriber}
                columns={[
                  { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
                  { head: t.accounts, cell: ({ accounts }) => accounts.join(', ') },
                  {
                    head: t.credentials,
                    cell: ({ valid }) => (
                      <Badge tone={valid ? 'good' : 'bad'}>{t.validity(valid)}</Badge>
                    ),
                  },
                ]}
              />
            </>
          )}
        </Loaded>
        <TextField label={t.typeIt(distid)} value={typed} onInput={setTyped} />
        <TextField label={texts.words.reason} value={reason} onInput={setReason} />
      </ActForm>
    </Dialog>
  )
}

export function Simulate({ distid, onClose, onDone }: ModeProps) {
  const [reason, setReason] = useState('')
  return (
    <Dialog title={t.simulate} onClose={onClose}>
      <ActForm
        act={t.simulate}
        onCancel={onClose}
        doIt={async () => {
          await call('distributors.setMode', { distid, reason: reason || null })
          tell(t.isSimulated)
          await onDone()
        }}
      >
        <p>{t.simulateMeans}</p>
        <TextField label={texts.words.reason} value={reason} onInput={setReason} />
      </ActForm>
    </Dialog>
  )
}
