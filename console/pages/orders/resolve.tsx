/** Deciding what became of an order: in the two steps of the command, look first, then say yes. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
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
  /** Reference of the purchase order. */
  order: string
  subscriber: string
  onClose: () => void
  onDone: () => Promise<void>
}

export function Resolve({ order, subscriber, onClose, onDone }: ResolveProps) {
  const [choice, setChoice] = useState<Choice>('placed')
  const [number, setNumber] = useState('')
  const [reason, setReason] = useState('')
  /** What the decision would do, as the server says. */
  const [would, setWould] = useState<Output<'orders.resolve'> | null>(null)
  const decide = (isTrial: boolean) =>
    call('orders.resolve', {
      order,
      subscriber,
      ...(choice === 'placed'
        ? { verdict: 'placed', number, ...(reason && { reason }) }
        : { verdict: 'absent', next: choice, reason }),
      dry_run: isTrial,
    })
  if (would)
    return (
      // Another dialog, at whose beginning the focus is: one more Enter decides nothing.
      <Dialog key="decide" title={t.resolve} onClose={onClose}>
        <ActForm
          act={t.stepTwo}
          kind="danger"
          onCancel={() => setWould(null)}
          doIt={async () => {
            const { after } = await decide(false)
            tell(t.resolved(words(after)))
            onClose()
            await onDone()
          }}
        >
          <div class="notice">
            <Icon name="warn" />
            <p>
              {t.wouldBe(would.id, would.distid, would.po_number)}{' '}
              {would.after === 'placed'
                ? t.wouldPlaced(would.distributor_order_id ?? '')
                : would.after === 'rejected'
                  ? t.wouldRefuse
                  : t.wouldResend}
            </p>
          </div>
        </ActForm>
      </Dialog>
    )
  return (
    <Dialog key="check" title={t.resolve} onClose={onClose}>
      <ActForm
        act={t.stepOne}
        onCancel={onClose}
        isReady={choice === 'placed' ? number !== '' : reason !== ''}
        doIt={async () => setWould(await decide(true))}
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
