/** Accounts: shops, their keys, allowlists, tiers and usage. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { count } from '../../core/format.js'
import { linkTo, place, refine } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, PageHead, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { NewKey } from './new-key.js'
import { OneKey } from './one.js'

const t = texts.accounts
export const STATUS_TONES = { enabled: 'good', disabled: 'warn', cancelled: 'bad' } as const

export function Accounts() {
  const [, id] = place.value.path
  return id === undefined ? <AllAccounts /> : <OneKey key={id} id={id} />
}

function AllAccounts() {
  const shops = useCall('subscribers.list', {})
  const keys = useCall('keys.list', {})
  const isWithoutShop = shops.data?.length === 0
  const { make } = place.value.query
  const close = () => refine({ make: undefined })
  const reload = async () => {
    await Promise.all([shops.reload(), keys.reload()])
  }
  return (
    <>
      <PageHead
        title={texts.pages.accounts}
        question={t.question}
        actions={
          !isViewer.value && (
            <>
              <Button
                kind={isWithoutShop ? 'primary' : 'plain'}
                onClick={() => refine({ make: 'shop' })}
              >
                {t.addShop}
              </Button>
              <Button
                kind={isWithoutShop ? 'plain' : 'primary'}
                disabled={isWithoutShop}
                onClick={() => refine({ make: 'key' })}
              >
                {t.createKey}
              </Button>
            </>
          )
        }
      />
      <Section title={t.shops}>
        <Loaded reading={shops}>
          {(rows) => (
            <Table
              label={t.shops}
              rows={rows}
              keyOf={({ id }) => id}
              empty={<Empty title={t.noShops}>{t.noShopsMore}</Empty>}
              columns={[
                { head: t.name, cell: ({ name }) => <span class="strong">{name}</span> },
                { head: t.email, cell: ({ email }) => email },
                { head: t.id, cell: ({ id }) => <code>{id}</code>, isWide: true },
                { head: t.keys, cell: ({ keys: many }) => count(many), isNumber: true },
                { head: t.since, cell: ({ created_at: at }) => <When at={at} />, isWide: true },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <Section title={t.keys} note={t.keysNote}>
        <Loaded reading={keys}>{(rows) => <Keys keys={rows} />}</Loaded>
      </Section>
      {make === 'shop' && <AddShop onClose={close} onDone={reload} />}
      {make === 'key' && <NewKey onClose={close} onDone={reload} />}
    </>
  )
}

function Keys({ keys }: { keys: Output<'keys.list'> }) {
  return (
    <Table
      label={t.keys}
      rows={keys}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => linkTo(['accounts', id])}
      empty={<Empty title={t.noKeys}>{t.noKeysMore}</Empty>}
      columns={[
        { head: t.name, cell: ({ name }) => name },
        { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
        { head: t.tier, cell: ({ tier }) => tier },
        {
          head: texts.words.state,
          cell: ({ status }) => <Badge tone={STATUS_TONES[status]}>{t.statuses[status]}</Badge>,
        },
        {
          head: t.allowlist,
          isWide: true,
          cell: ({ allowlist }) =>
            allowlist.length === 0 ? (
              <Badge tone="warn">{t.noAddress}</Badge>
            ) : (
              <span class="cut">{allowlist.join(', ')}</span>
            ),
        },
        { head: t.since, cell: ({ created_at: at }) => <When at={at} />, isWide: true },
      ]}
    />
  )
}

function AddShop({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  return (
    <Dialog title={t.addShop} onClose={onClose}>
      <ActForm
        act={t.addShop}
        onCancel={onClose}
        isReady={name.trim() !== '' && email.trim() !== ''}
        doIt={async () => {
          await call('subscribers.create', { name, email })
          tell(t.shopAdded(name))
          onClose()
          await onDone()
        }}
      >
        <TextField label={t.name} value={name} onInput={setName} isFirst />
        <TextField label={t.email} type="email" value={email} onInput={setEmail} />
      </ActForm>
    </Dialog>
  )
}
