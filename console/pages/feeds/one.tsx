/** One source: what it last brought, what was refused and why, and what could not be read. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { count } from '../../core/format.js'
import { runLong, useLong } from '../../core/jobs.js'
import { linkTo } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Facts, PageHead, Section, When } from '../../parts/basics.js'
import { Icon } from '../../parts/icons.js'
import { Empty, Loaded } from '../../parts/states.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { Figures, Rejects, Watched } from './figures.js'
import { stateOf } from './list.js'
import { SourceDialog, partsOf } from './source.js'

const t = texts.feeds
type Status = Output<'feeds.status'>[number]

export function OneFeed({ source }: { source: string }) {
  const reading = useCall('feeds.status', {}, { every: 20_000 })
  const [isSetting, setSetting] = useState(false)
  const [isPulling, setPulling] = useState(false)
  const { distid } = partsOf(source)
  async function pull() {
    setPulling(true)
    await act(async () => {
      const results = await runLong('feeds.pull', { distid })
      await reading.reload()
      const own = results.find((one) => one.source === source)
      return own ? t.outcome(own.outcome) : t.nothingDue
    })
    setPulling(false)
  }
  return (
    <>
      <PageHead
        title={source}
        question={t.one}
        back={{ href: linkTo(['feeds']), label: texts.pages.feeds }}
        actions={
          !isViewer.value && (
            <>
              <Button onClick={() => setSetting(true)}>{t.change}</Button>
              <Button kind="primary" onClick={pull} isBusy={isPulling}>
                {t.pullNow}
              </Button>
            </>
          )
        }
      />
      <Loaded reading={reading} lines={8}>
        {(sources) => {
          const status = sources.find((one) => one.source === source)
          return status ? (
            <>
              <State status={status} />
              {status.refused && <Refused source={source} onDone={reading.reload} />}
              <RejectsOf source={source} />
              {isSetting && (
                <SourceDialog
                  source={source}
                  location={status.location ?? ''}
                  minutes={status.every_minutes}
                  isPrivate={status.allow_private}
                  onClose={() => setSetting(false)}
                  onDone={async () => {
                    setSetting(false)
                    await reading.reload()
                  }}
                />
              )}
            </>
          ) : (
            <Empty title={t.noSuch(source)}>{t.noneMore}</Empty>
          )
        }}
      </Loaded>
    </>
  )
}

function State({ status }: { status: Status }) {
  const [tone, text] = stateOf(status)
  return (
    <Section title={t.state} aside={<Badge tone={tone}>{text}</Badge>}>
      <Facts
        facts={[
          [t.age, <When at={status.as_of} none={t.never} />],
          [t.lastPull, <When at={status.last_pull} none={t.never} />],
          [t.schedule, status.every_minutes === null ? t.byHand : t.every(status.every_minutes)],
          [t.rows, count(status.rows)],
          [t.rejected, count(status.rejected)],
          [t.offers, count(status.offers)],
          [t.from, status.location ? <code>{status.location}</code> : t.byHand],
          ...(status.not_before
            ? [[t.notBefore, <When at={status.not_before} />] as [string, ComponentChildren]]
            : []),
        ]}
      />
      {status.last_outcome && status.last_outcome !== 'taken' && (
        <p class="note">{t.outcome(status.last_outcome)}</p>
      )}
      {status.warnings.map((warning) => (
        <p class="note" key={warning}>
          {warning}
        </p>
      ))}
      <div class="body" />
    </Section>
  )
}

function Refused({ source, onDone }: { source: string; onDone: () => Promise<void> }) {
  const reading = useLong('feeds.refused', partsOf(source))
  const [isBusy, setBusy] = useState(false)
  async function accept() {
    setBusy(true)
    await act(async () => {
      const { outcome } = await runLong('feeds.accept', partsOf(source))
      await onDone()
      return t.outcome(outcome)
    })
    setBusy(false)
  }
  return (
    <Section
      title={t.refusedTitle}
      aside={<Badge tone="bad">{t.states.refused}</Badge>}
      note={t.refusedNote}
    >
      <Loaded reading={reading} lines={8}>
        {({ reasons, last, would, refused_at: at }) => (
          <>
            <div class="body">
              <div class="fault">
                <Icon name="bad" />
                <div>
                  <p>
                    {t.refusedAt} <When at={at} />
                  </p>
                  <ul>
                    {reasons.map((reason) => (
                      <li key={reason}>{reason}</li>
                    ))}
                  </ul>
                </div>
              </div>
            </div>
            {would ? (
              <>
                <Watched watched={would.watched} />
                <Figures would={would} last={last} />
                <div class="body actions">
                  <Button kind="danger" onClick={accept} isBusy={isBusy} disabled={isViewer.value}>
                    {t.accept}
                  </Button>
                  <span class="quiet">{t.acceptNote}</span>
                </div>
              </>
            ) : (
              <Empty title={t.gone}>{t.goneMore}</Empty>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

function RejectsOf({ source }: { source: string }) {
  const reading = useCall('feeds.rejects', { ...partsOf(source), limit: 100 })
  return (
    <Section title={t.rejects} note={t.rejectsNote}>
      <Loaded reading={reading}>{({ rows }) => <Rejects rows={rows} />}</Loaded>
    </Section>
  )
}
