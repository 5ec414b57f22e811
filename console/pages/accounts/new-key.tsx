/** A new key: made, and shown once. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { useShops } from '../../core/shops.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Select, TextArea, TextField } from '../../parts/fields.js'
import { ShownOnce } from '../../parts/shown-once.js'
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

const WORDS = { title: t.yourKey, note: t.onlyOnce, copy: t.copyKey, kept: t.keptIt }

export function ShownKey({ text, onClose }: { text: string; onClose: () => void }) {
  return <ShownOnce text={text} words={WORDS} onClose={onClose} />
}
