/** One distributor: simulator or live and what that means, credentials, calls of the last day. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import type { Distributor } from '../../core/distributors.js'
import { count } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useShops } from '../../core/shops.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Facts, PageHead, Section, When } from '../../parts/basics.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { pointerOf } from '../configuration/schema.js'
import { GoLive, Simulate } from './mode.js'

const t = texts.distributors

export function OneDistributor({ distid }: { distid: string }) {
  const reading = useCall('distributors.list', {})
  const distributor = reading.data?.distributors.find((one) => one.distid === distid)
  return (
    <>
      <PageHead
        title={distributor?.name ?? distid}
        question={t.one}
        back={{ href: linkTo(['distributors']), label: texts.pages.distributors }}
      />
      <Loaded reading={reading} lines={10}>
        {() =>
          distributor ? (
            <>
              <Mode distributor={distributor} onChange={reading.reload} />
              <Credentials name={distributor.name} />
              <Activity distid={distid} />
            </>
          ) : (
            <Empty title={t.noSuch(distid)} />
          )
        }
      </Loaded>
    </>
  )
}

function Mode({
  distributor,
  onChange,
}: {
  distributor: Distributor
  onChange: () => Promise<void>
}) {
  const { distid, name, mode, automated_fulfillment: takesOrders, offers } = distributor
  const [isChanging, setChanging] = useState(false)
  const close = () => setChanging(false)
  const done = async () => {
    close()
    await onChange()
  }
  return (
    <Section
      title={t.mode}
      aside={
        <>
          <Badge tone={mode === 'live' ? 'bad' : 'calm'}>{t.modes[mode]}</Badge>
          {!isViewer.value && (mode === 'live' || takesOrders) && (
            <Button kind={mode === 'live' ? 'plain' : 'danger'} onClick={() => setChanging(true)}>
              {mode === 'live' ? t.simulate : t.goLive}
            </Button>
          )}
        </>
      }
    >
      <p class="note">{mode === 'live' ? t.liveMeans : t.simulatorMeans}</p>
      <Facts
        facts={[
          [t.distid, <code>{distid}</code>],
          [t.orders, takesOrders ? t.takesOrders : t.feedOnly],
          [t.offers, count(offers)],
          [t.feeds, <a href={linkTo(['feeds'])}>{texts.pages.feeds}</a>],
        ]}
      />
      {isChanging && mode === 'live' && <Simulate distid={distid} onClose={close} onDone={done} />}
      {isChanging && mode !== 'live' && (
        <GoLive distid={distid} name={name} onClose={close} onDone={done} />
      )}
    </Section>
  )
}

/** The shops, with what their configuration says of it. */
function Credentials({ name }: { name: string }) {
  const { shops } = useShops()
  return (
    <Section title={t.credentials} note={t.credentialsNote}>
      {shops.length === 0 ? (
        <Empty title={t.noShops}>{t.noShopsMore}</Empty>
      ) : (
        <ul class="list">
          {shops.map((shop) => (
            <CredentialsOf key={shop.id} shop={shop.name} name={name} />
          ))}
        </ul>
      )}
    </Section>
  )
}

function CredentialsOf({ shop, name }: { shop: string; name: string }) {
  const { data } = useCall('configurations.read', { subscriber: shop })
  const [valid, setValid] = useState<boolean | null | undefined>(undefined)
  const [why, setWhy] = useState<readonly string[]>([])
  const [isBusy, setBusy] = useState(false)
  const entries = data?.configuration['distributors'] as
    | Readonly<Record<string, { active: boolean }>>
    | undefined
  const entry = entries?.[name]
  async function check() {
    setBusy(true)
    await act(async () => {
      const [result] = await call('configurations.checkCredentials', {
        subscriber: shop,
        names: [name],
      })
      const now = result?.valid ?? null
      setValid(now)
      setWhy(now === false ? await reasons() : [])
      tell(t.checked(now), { isFault: now === false })
    })
    setBusy(false)
  }
  async function reasons() {
    const { warnings } = await call('configurations.validate', { subscriber: shop })
    return warnings.filter((warning) => warning.startsWith(`${name} `))
  }
  const edit = (label: string) => (
    <a
      class="button"
      href={linkTo(['configuration'], { at: pointerOf(['distributors', name, 'fulfillment']) })}
    >
      {label}
    </a>
  )
  return (
    <li>
      <span class="grow">
        <span class="strong">{shop}</span>
        {why.map((reason) => (
          <p key={reason} class="quiet">
            {reason}
          </p>
        ))}
      </span>
      {entry ? (
        <>
          <Badge tone={entry.active ? 'good' : 'calm'}>
            {entry.active ? t.active : t.inactive}
          </Badge>
          {valid !== undefined && (
            <Badge tone={valid === null ? 'calm' : valid ? 'good' : 'bad'}>
              {t.validity(valid)}
            </Badge>
          )}
          <Button onClick={check} isBusy={isBusy} disabled={isViewer.value}>
            {t.check}
          </Button>
          {edit(t.edit)}
        </>
      ) : (
        edit(t.configure)
      )}
    </li>
  )
}

function Activity({ distid }: { distid: string }) {
  const reading = useCall('distributors.activity', { distid }, { every: 30_000 })
  return (
    <Loaded reading={reading} lines={6}>
      {({ sends, searches, calls, errors, newest }) => (
        <Section title={t.activity}>
          <Facts
            facts={[
              [t.sends, count(sends)],
              [t.searches, count(searches)],
              [t.calls, count(calls)],
              [t.errors, <Badge tone={errors > 0 ? 'bad' : 'good'}>{count(errors)}</Badge>],
            ]}
          />
          <Table
            label={t.transcripts}
            rows={newest}
            keyOf={({ at, ref, path }) => `${at} ${ref} ${path}`}
            empty={<Empty title={t.quiet}>{t.quietMore}</Empty>}
            columns={[
              { head: texts.words.when, cell: ({ at }) => <When at={at} /> },
              {
                head: t.call,
                isLong: true,
                cell: ({ method, path }) => (
                  <code>
                    {method} {path}
                  </code>
                ),
              },
              { head: t.kind, cell: ({ kind }) => kind },
              {
                head: t.answer,
                cell: ({ status, fault }) => (
                  <Badge tone={fault !== null || (status ?? 0) >= 400 ? 'bad' : 'good'}>
                    {fault ?? status ?? '–'}
                  </Badge>
                ),
              },
              { head: t.took, cell: ({ took }) => `${count(took)} ms`, isNumber: true },
              {
                head: texts.pages.orders,
                cell: ({ ref }) => <a href={linkTo(['orders', ref])}>{texts.words.details}</a>,
              },
            ]}
          />
        </Section>
      )}
    </Loaded>
  )
}
