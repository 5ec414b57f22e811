/** A new key: made, and shown once. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { useShops } from '../../core/shops.js'
import { Button, Copy } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Select, TextArea, TextField } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { texts } from '../../texts.js'

const t = texts.accounts
export const TIERS = ['standard', 'pro', 'enterprise'] as const
type Tier = (typeof TIERS)[number]

export function NewKey({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const { shops, shop } = useShops()
  const [subscriber, setSubscriber] = useState(shop ?? '')
  const [name, setName] = useState('')
  const [tier, setTier] = useState<Tier>('standard')
  const [ips, setIps] = useState('')
  const [key, setKey] = useState<string | null>(null)
  const owner = subscriber || shop || ''
  if (key !== null) return <ShownKey text={key} onClose={onClose} />
  return (
    <Dialog title={t.createKey} onClose={onClose}>
      <ActForm
        act={t.createKey}
        onCancel={onClose}
        isReady={owner !== '' && name.trim() !== ''}
        doIt={async () => {
          const made = await call('keys.create', {
            subscriber: owner,
            name,
            tier,
            ips: ips.split(/[\s,]+/).filter(Boolean),
          })
          setKey(made.key)
          await onDone()
        }}
      >
        <Select
          label={texts.words.shop}
          value={owner}
          options={shops.map((one) => one.name)}
          onChange={setSubscriber}
        />
        <TextField label={t.whatFor} value={name} onInput={setName} isFirst />
        <Select
          label={t.tier}
          value={tier}
          options={TIERS.map((one) => [one, t.tiers[one]] as const)}
          onChange={(value) => setTier(value as Tier)}
        />
        <TextArea
          label={t.allowlist}
          help={t.allowlistHelp}
          rows={3}
          value={ips}
          onInput={setIps}
        />
      </ActForm>
    </Dialog>
  )
}

/** The only time that anybody sees it. */
export function ShownKey({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <Dialog title={t.yourKey} onClose={onClose}>
      <div class="form">
        <div class="notice">
          <Icon name="warn" />
          <p>{t.onlyOnce}</p>
        </div>
        <div class="row">
          <code class="key">{text}</code>
          <Copy text={text} label={t.copyKey} />
        </div>
        <div class="actions end">
          <Button kind="primary" onClick={onClose}>
            {t.keptIt}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
