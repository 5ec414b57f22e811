/** Deciding what became of an order: in the two steps of the command, look first, then say yes. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { words } from '../../core/format.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Select, TextField } from '../../parts/fields.js'
import { tell } from '../../parts/toast.js'
import { Icon } from '../../parts/icons.js'
import { texts } from '../../texts.js'

const t = texts.orders
const VERDICTS = ['placed', 'resend', 'refuse'] as const
type Choice = (typeof VERDICTS)[number]

interface ResolveProps {
  purchase: { id: number; ref: string }
  po: string
  distid: string
  subscriber: string
  onClose: () => void
  onDone: () => Promise<void>
}

export function Resolve({ purchase, po, distid, subscriber, onClose, onDone }: ResolveProps) {
  const [choice, setChoice] = useState<Choice>('placed')
  const [number, setNumber] = useState('')
  const [reason, setReason] = useState('')
  const [isRead, setRead] = useState(false)
  const decision =
    choice === 'placed'
      ? { verdict: 'placed' as const, number, ...(reason && { reason }) }
      : { verdict: 'absent' as const, next: choice, reason }
  if (isRead)
    return (
      <Dialog title={t.resolve} onClose={onClose}>
        <ActForm
          act={t.stepTwo}
          kind="danger"
          onCancel={() => setRead(false)}
          doIt={async () => {
            const { after } = await call('orders.resolve', {
              order: purchase.ref,
              subscriber,
              ...decision,
            })
            tell(t.resolved(words(after)))
            onClose()
            await onDone()
          }}
        >
          <div class="notice">
            <Icon name="warn" />
            <p>
              {t.wouldBe(purchase.id, distid, po)}{' '}
              {choice === 'placed'
                ? t.wouldPlaced(number)
                : choice === 'resend'
                  ? t.wouldResend
                  : t.wouldRefuse}
            </p>
          </div>
        </ActForm>
      </Dialog>
    )
  return (
    <Dialog title={t.resolve} onClose={onClose}>
      <ActForm
        act={t.stepOne}
        onCancel={onClose}
        isReady={choice === 'placed' ? number !== '' : reason !== ''}
        doIt={async () => setRead(true)}
      >
        <p class="quiet">{t.resolveWhy}</p>
        <Select
          label={t.verdict}
          value={choice}
          options={VERDICTS.map((one) => [one, t.verdicts[one]] as const)}
          onChange={(value) => setChoice(value as Choice)}
        />
        {choice === 'placed' && (
          <TextField label={t.numberThere} value={number} onInput={setNumber} required />
        )}
        <TextField
          label={t.reasonLabel}
          help={t.reasonHelp}
          value={reason}
          onInput={setReason}
          required={choice !== 'placed'}
        />
      </ActForm>
    </Dialog>
  )
}
