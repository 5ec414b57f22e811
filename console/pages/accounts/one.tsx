/** One key: its addresses, its usage, and its end. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { count } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Facts, PageHead, Section, When } from '../../parts/basics.js'
import { ChartWithTable } from '../../parts/chart.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { STATUS_TONES } from './index.js'
import { ShownKey } from './new-key.js'

const t = texts.accounts
type Key = Output<'keys.list'>[number]

export function OneKey({ id }: { id: string }) {
  const keys = useCall('keys.list', {})
  const key = keys.data?.find((one) => one.id === id)
  return (
    <>
      <PageHead
        title={key?.name ?? id}
        question={key && `${key.subscriber} · ${key.tier}`}
        back={{ href: linkTo(['accounts']), label: texts.pages.accounts }}
      />
      <Loaded reading={keys} lines={8}>
        {() =>
          key ? (
            <>
              <State apiKey={key} onChange={keys.reload} />
              <div class="columns">
                <Allowlist apiKey={key} onChange={keys.reload} />
                <Endpoints id={id} />
              </div>
              <UsageChart id={id} />
            </>
          ) : (
            <Empty title={t.noSuchKey(id)} />
          )
        }
      </Loaded>
    </>
  )
}

interface KeyProps {
  apiKey: Key
  onChange: () => Promise<void>
}

function State({ apiKey: { id, status, tier, created_at: at }, onChange }: KeyProps) {
  const [asked, setAsked] = useState<'rotate' | 'cancel' | null>(null)
  const [text, setText] = useState<string | null>(null)
  const set = (next: Key['status']) =>
    act(async () => {
      await call('keys.setStatus', { id, status: next })
      await onChange()
      return t.isNow(t.statuses[next])
    })
  return (
    <Section
      title={texts.words.state}
      aside={
        !isViewer.value &&
        status !== 'cancelled' && (
          <>
            <Button onClick={() => set(status === 'enabled' ? 'disabled' : 'enabled')}>
              {status === 'enabled' ? t.disable : t.enable}
            </Button>
            <Button onClick={() => setAsked('rotate')}>{t.rotate}</Button>
            <Button kind="danger" onClick={() => setAsked('cancel')}>
              {t.cancelKey}
            </Button>
          </>
        )
      }
    >
      <Facts
        facts={[
          [texts.words.state, <Badge tone={STATUS_TONES[status]}>{t.statuses[status]}</Badge>],
          [t.tier, t.tiers[tier]],
          [t.id, <code>{id}</code>],
          [t.since, <When at={at} />],
        ]}
      />
      {asked && (
        <Dialog title={asked === 'rotate' ? t.rotate : t.cancelKey} onClose={() => setAsked(null)}>
          <ActForm
            act={asked === 'rotate' ? t.rotate : t.cancelKey}
            kind="danger"
            onCancel={() => setAsked(null)}
            doIt={async () => {
              if (asked === 'rotate') setText((await call('keys.rotate', { id })).key)
              else await call('keys.setStatus', { id, status: 'cancelled' })
              setAsked(null)
              await onChange()
            }}
          >
            <p>{asked === 'rotate' ? t.rotateMeans : t.cancelMeans}</p>
          </ActForm>
        </Dialog>
      )}
      {text !== null && <ShownKey text={text} onClose={() => setText(null)} />}
    </Section>
  )
}

function Allowlist({ apiKey: { id, allowlist }, onChange }: KeyProps) {
  const [ip, setIp] = useState('')
  const remove = (entry: string) =>
    act(async () => {
      await call('keys.allowlist', { id, deny: [entry] })
      await onChange()
      return t.removed(entry)
    })
  return (
    <Section title={t.allowlist}>
      <Table
        label={t.allowlist}
        rows={allowlist}
        keyOf={(entry) => entry}
        empty={<Empty title={t.noAddress}>{t.noAddressMore}</Empty>}
        columns={[
          { head: t.address, cell: (entry) => <code>{entry}</code> },
          {
            head: texts.words.remove,
            isNumber: true,
            cell: (entry) => (
              <Button kind="quiet" disabled={isViewer.value} onClick={() => remove(entry)}>
                {texts.words.remove}
              </Button>
            ),
          },
        ]}
      />
      {!isViewer.value && (
        <div class="body">
          <ActForm
            act={t.allow}
            kind="plain"
            isReady={ip.trim() !== ''}
            doIt={async () => {
              await call('keys.allowlist', { id, allow: [ip.trim()] })
              tell(t.allowed(ip))
              setIp('')
              await onChange()
            }}
          >
            <TextField label={t.address} help={t.addressHelp} value={ip} onInput={setIp} />
          </ActForm>
        </div>
      )}
    </Section>
  )
}

function Endpoints({ id }: { id: string }) {
  const usage = useCall('keys.usage', { id })
  return (
    <Section title={t.endpoints}>
      <Loaded reading={usage}>
        {({ by_endpoint_today: rows }) => (
          <Table
            label={t.endpoints}
            rows={rows}
            keyOf={({ endpoint }) => endpoint}
            empty={<Empty title={t.quiet}>{t.quietMore}</Empty>}
            columns={[
              { head: t.endpoint, cell: ({ endpoint }) => <code>{endpoint}</code> },
              { head: t.requests, cell: ({ requests }) => count(requests), isNumber: true },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function UsageChart({ id }: { id: string }) {
  const usage = useCall('keys.usage', { id })
  return (
    <Loaded reading={usage}>
      {({ by_day_last_7: days, today, this_month: month, limits }) => (
        <Section
          title={t.usage}
          aside={t.usageNow(count(today), count(limits.per_day), count(month))}
        >
          <ChartWithTable
            label={t.usage}
            at={days.map(({ day }) => day)}
            form="bars"
            format={count}
            series={[{ label: t.requests, values: days.map(({ requests }) => requests) }]}
          />
        </Section>
      )}
    </Loaded>
  )
}
