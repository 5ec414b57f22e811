/** A shop's own exceptions: each with who, why, and until when. */
import { useState } from 'preact/hooks'
import type { Input, Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { isViewer, session } from '../../core/session.js'
import { useShops } from '../../core/shops.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { CLASSES } from './classes.js'

const t = texts.restrictions
type Override = Output<'rules.overrides'>[number]

export function Overrides() {
  const reading = useCall('rules.overrides', {})
  const [isAdding, setAdding] = useState(false)
  const withdraw = (id: string) =>
    act(async () => {
      await call('rules.withdraw', { id })
      await reading.reload()
      return t.withdrawn
    })
  return (
    <Section
      title={t.views.overrides}
      aside={!isViewer.value && <Button onClick={() => setAdding(true)}>{t.addOverride}</Button>}
    >
      <Loaded reading={reading}>
        {(overrides) => (
          <Table
            label={t.views.overrides}
            rows={overrides}
            keyOf={({ id }) => id}
            empty={<Empty title={t.noOverrides}>{t.noOverridesMore}</Empty>}
            columns={[
              { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
              {
                head: t.effect,
                cell: ({ effect }) => (
                  <Badge tone={effect === 'allow' ? 'good' : 'bad'}>{t.effects[effect]}</Badge>
                ),
              },
              { head: t.about, cell: aboutOf, isLong: true },
              {
                head: texts.words.reason,
                cell: ({ reason, author }) => `${reason} (${author})`,
                isLong: true,
              },
              { head: t.until, cell: ({ expires }) => <When at={expires} none={t.forGood} /> },
              {
                head: texts.words.state,
                cell: ({ id, holds }) =>
                  holds ? (
                    <Button disabled={isViewer.value} onClick={() => withdraw(id)}>
                      {t.withdraw}
                    </Button>
                  ) : (
                    <Badge>{t.ended}</Badge>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {isAdding && (
        <AddOverride
          onClose={() => setAdding(false)}
          onDone={async () => {
            setAdding(false)
            await reading.reload()
          }}
        />
      )}
    </Section>
  )
}

function aboutOf({ detail }: Override) {
  const { rule_ids: ids = [], ...others } = detail
  return (
    <code>
      {ids.join(', ')} {JSON.stringify(others)}
    </code>
  )
}

function AddOverride({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const { shops, shop } = useShops()
  const [subscriber, setSubscriber] = useState(shop ?? '')
  const [effect, setEffect] = useState<'allow' | 'block'>('allow')
  const [rules, setRules] = useState('')
  const [upcs, setUpcs] = useState('')
  const [productClass, setClass] = useState('')
  const [states, setStates] = useState('')
  const [reason, setReason] = useState('')
  const [expires, setExpires] = useState('')
  const listOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)
  return (
    <Dialog title={t.addOverride} onClose={onClose}>
      <ActForm
        act={t.addOverride}
        onCancel={onClose}
        isReady={subscriber !== '' && reason.trim() !== ''}
        doIt={async () => {
          const match = {
            ...(upcs && { upc: listOf(upcs) }),
            ...(productClass && { product_class: [productClass] }),
          }
          await call('rules.override', {
            subscriber,
            effect,
            rule_ids: listOf(rules),
            match,
            ...(states && { scope: { state: listOf(states.toUpperCase()) } }),
            author: session.value?.name ?? 'console',
            reason,
            expires: expires || null,
          } as unknown as Input<'rules.override'>)
          tell(t.overrideAdded)
          await onDone()
        }}
      >
        <Select
          label={texts.words.shop}
          value={subscriber}
          options={shops.map(({ name }) => name)}
          onChange={setSubscriber}
        />
        <Select
          label={t.effect}
          value={effect}
          options={Object.entries(t.effects)}
          onChange={(value) => setEffect(value as 'allow' | 'block')}
        />
        {effect === 'allow' && (
          <TextField
            label={t.rulesLifted}
            help={t.rulesLiftedHelp}
            value={rules}
            onInput={setRules}
          />
        )}
        <TextField label={t.upcs} value={upcs} onInput={setUpcs} />
        <Select
          label={t.class}
          value={productClass}
          options={[['', texts.words.any], ...CLASSES]}
          onChange={setClass}
        />
        <TextField label={t.states_} value={states} onInput={setStates} />
        <TextField label={t.why} value={reason} onInput={setReason} required />
        <TextField
          label={t.until}
          type="date"
          value={expires}
          onInput={setExpires}
          help={t.untilHelp}
        />
      </ActForm>
    </Dialog>
  )
}
