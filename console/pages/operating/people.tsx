/** Who may use the console, and who is signed in. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { isViewer, session } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Copy, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Select, TextField } from '../../parts/fields.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { SecondFactor } from './second-factor.js'

const t = texts.operating

export function People() {
  const users = useCall('console.users', {})
  const sessions = useCall('console.sessions', {})
  const [isAdding, setAdding] = useState(false)
  const [link, setLink] = useState<string | null>(null)
  const linkOf = (token: string) => `${window.location.origin}/#link=${token}`
  const reload = async () => {
    await Promise.all([users.reload(), sessions.reload()])
  }
  const reset = (name: string) =>
    act(async () => {
      const { token } = await call('console.reset', { name })
      setLink(linkOf(token))
      await reload()
    })
  const remove = (name: string) =>
    act(async () => {
      await call('console.remove', { name })
      await reload()
      return t.removed(name)
    })
  const revoke = (id: string) =>
    act(async () => {
      await call('console.revoke', { id })
      await reload()
      return t.revoked
    })
  return (
    <>
      <Section
        title={t.users}
        aside={!isViewer.value && <Button onClick={() => setAdding(true)}>{t.invite}</Button>}
      >
        <Loaded reading={users}>
          {(rows) => (
            <Table
              label={t.users}
              rows={rows}
              keyOf={({ name }) => name}
              columns={[
                { head: t.name, cell: ({ name }) => <span class="strong">{name}</span> },
                { head: t.role, cell: ({ role }) => t.roles[role] },
                {
                  head: t.password,
                  cell: ({ password_set: isSet, totp }) => (
                    <span class="row">
                      <Badge tone={isSet ? 'good' : 'warn'}>{isSet ? t.isSet : t.notSet}</Badge>
                      {totp && <Badge tone="good">{t.totp}</Badge>}
                    </span>
                  ),
                },
                { head: t.signIns, cell: ({ sessions: many }) => many, isNumber: true },
                {
                  head: texts.words.details,
                  cell: ({ name }) =>
                    !isViewer.value && (
                      <span class="row">
                        <Button onClick={() => reset(name)} label={`${t.reset}: ${name}`}>
                          {t.reset}
                        </Button>
                        {name !== session.value?.name && (
                          <Button
                            kind="quiet"
                            onClick={() => remove(name)}
                            label={`${texts.words.remove}: ${name}`}
                          >
                            {texts.words.remove}
                          </Button>
                        )}
                      </span>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      <SecondFactor />
      <Section title={t.sessions}>
        <Loaded reading={sessions}>
          {(rows) => (
            <Table
              label={t.sessions}
              rows={rows}
              keyOf={({ id }) => id}
              columns={[
                { head: t.name, cell: ({ name }) => name },
                { head: t.address, cell: ({ address }) => <code>{address}</code> },
                { head: t.since, cell: ({ since }) => <When at={since} /> },
                { head: t.seen, cell: ({ last_seen: at }) => <When at={at} /> },
                { head: t.ends, cell: ({ expires_at: at }) => <When at={at} />, isWide: true },
                {
                  head: t.agent,
                  cell: ({ agent }) => <span class="cut">{agent}</span>,
                  isWide: true,
                },
                {
                  head: t.revoke,
                  cell: ({ id }) => (
                    <Button disabled={isViewer.value} onClick={() => revoke(id)}>
                      {t.revoke}
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      {isAdding && (
        <Invite
          onClose={() => setAdding(false)}
          onDone={async (token) => {
            setAdding(false)
            setLink(linkOf(token))
            await reload()
          }}
        />
      )}
      {link !== null && (
        <Dialog title={t.link} onClose={() => setLink(null)}>
          <div class="form">
            <p>{t.linkMeans}</p>
            <div class="row">
              <code class="key">{link}</code>
              <Copy text={link} label={t.copyLink} />
            </div>
          </div>
        </Dialog>
      )}
    </>
  )
}

function Invite({
  onClose,
  onDone,
}: {
  onClose: () => void
  onDone: (token: string) => Promise<void>
}) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<'operator' | 'viewer'>('viewer')
  return (
    <Dialog title={t.invite} onClose={onClose}>
      <ActForm
        act={t.makeLink}
        onCancel={onClose}
        isReady={name.trim() !== ''}
        doIt={async () => onDone((await call('console.link', { name, role })).token)}
      >
        <TextField label={t.name} value={name} onInput={setName} isFirst />
        <Select
          label={t.role}
          value={role}
          options={Object.entries(t.roles)}
          onChange={(value) => setRole(value as typeof role)}
        />
      </ActForm>
    </Dialog>
  )
}
