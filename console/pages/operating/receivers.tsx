/** Programs and people that are told of events. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { count } from '../../core/format.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Button, Section } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Check, TextField } from '../../parts/fields.js'
import { ShownOnce } from '../../parts/shown-once.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.operating
type Kind = 'webhook' | 'mail'
const SECRET = {
  title: t.webhookSecret,
  note: t.secretOnce,
  copy: t.copySecret,
  kept: t.keptSecret,
}

export function Receivers() {
  const reading = useCall('events.receivers', {})
  const [adding, setAdding] = useState<Kind | null>(null)
  const remove = (id: string, address: string) =>
    act(async () => {
      await call('events.remove', { id })
      await reading.reload()
      return t.receiverRemoved(address)
    })
  return (
    <Section
      title={t.receivers}
      note={t.receiversNote}
      aside={
        !isViewer.value && (
          <span class="row">
            <Button
              onClick={() =>
                act(async () => {
                  await call('events.test', {})
                  return t.tested
                })
              }
            >
              {t.test}
            </Button>
            <Button onClick={() => setAdding('mail')}>{t.addMail}</Button>
            <Button onClick={() => setAdding('webhook')}>{t.addWebhook}</Button>
          </span>
        )
      }
    >
      <Loaded reading={reading} lines={2}>
        {(receivers) => (
          <>
            {receivers.flatMap(({ id, address, fault }) =>
              fault === null
                ? []
                : [
                    <p class="note" key={id}>
                      {address}: {fault}
                    </p>,
                  ],
            )}
            <Table
              label={t.receivers}
              rows={receivers}
              keyOf={({ id }) => id}
              empty={<Empty title={t.noReceivers}>{t.noReceiversMore}</Empty>}
              columns={[
                { head: t.kind, cell: ({ kind }) => t.receiverKinds[kind] },
                { head: t.sentTo, cell: ({ address }) => <code>{address}</code>, isLong: true },
                { head: t.waiting, cell: ({ waiting }) => count(waiting) },
                {
                  head: t.action,
                  cell: ({ id, address }) => (
                    <Button disabled={isViewer.value} onClick={() => remove(id, address)}>
                      {t.removeReceiver}
                    </Button>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {adding && (
        <AddReceiver kind={adding} onClose={() => setAdding(null)} onDone={reading.reload} />
      )}
    </Section>
  )
}

function AddReceiver({
  kind,
  onClose,
  onDone,
}: {
  kind: Kind
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const [address, setAddress] = useState('')
  const [isPrivate, setPrivate] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const title = kind === 'mail' ? t.addMail : t.addWebhook
  if (secret !== null) return <ShownOnce text={secret} words={SECRET} onClose={onClose} />
  return (
    <Dialog title={title} onClose={onClose}>
      <ActForm
        act={title}
        onCancel={onClose}
        isReady={address.trim() !== ''}
        doIt={async () => {
          if (kind === 'mail') {
            await call('events.addMail', { address: address.trim() })
            tell(t.receiverAdded(address.trim()))
            onClose()
          } else {
            const made = await call('events.addWebhook', {
              url: address.trim(),
              allow_private: isPrivate,
            })
            setSecret(made.secret)
          }
          await onDone()
        }}
      >
        <TextField
          label={t.sentTo}
          help={kind === 'mail' ? t.mailHelp : t.webhookHelp}
          type={kind === 'mail' ? 'email' : 'url'}
          value={address}
          onInput={setAddress}
          isFirst
        />
        {kind === 'webhook' && (
          <Check label={t.allowPrivate} isOn={isPrivate} onChange={setPrivate} />
        )}
      </ActForm>
    </Dialog>
  )
}
