/** What each source last brought, and what waits for a decision. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { count, counted } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { runLong } from '../../core/jobs.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, PageHead, Section, When } from '../../parts/basics.js'
import type { Tone } from '../../parts/basics.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { SourceDialog } from './source.js'

const t = texts.feeds
type Status = Output<'feeds.status'>[number]

export function FeedList() {
  const reading = useCall('feeds.status', {}, { every: 20_000 })
  const [isSetting, setSetting] = useState(false)
  const [isPulling, setPulling] = useState(false)
  async function pull() {
    setPulling(true)
    await act(async () => {
      const results = await runLong('feeds.pull', {})
      await reading.reload()
      return results.length === 0 ? t.nothingDue : t.pulled(results.length)
    })
    setPulling(false)
  }
  return (
    <>
      <PageHead
        title={texts.pages.feeds}
        question={t.question}
        actions={
          !isViewer.value && (
            <>
              <Button onClick={pull} isBusy={isPulling}>
                {t.pullDue}
              </Button>
              <Button onClick={() => setSetting(true)}>{t.addSource}</Button>
              <a class="button primary" href={linkTo(['feeds', 'first'])}>
                {t.upload}
              </a>
            </>
          )
        }
      />
      <Section title={t.sources}>
        <Loaded reading={reading} lines={6}>
          {(sources) => (
            <Table
              label={t.sources}
              rows={sources}
              keyOf={({ source }) => source}
              hrefOf={({ source }) => linkTo(['feeds', source])}
              empty={
                <Empty
                  title={t.none}
                  action={
                    <a class="button primary" href={linkTo(['feeds', 'first'])}>
                      {t.upload}
                    </a>
                  }
                >
                  {t.noneMore}
                </Empty>
              }
              columns={COLUMNS}
            />
          )}
        </Loaded>
      </Section>
      {isSetting && (
        <SourceDialog
          onClose={() => setSetting(false)}
          onDone={async () => {
            setSetting(false)
            await reading.reload()
          }}
        />
      )}
    </>
  )
}

export function stateOf({ refused, last_outcome: outcome }: Status): [Tone, string] {
  if (refused) return ['bad', t.states.refused]
  if (outcome?.startsWith('failed')) return ['warn', t.states.failed]
  if (outcome?.startsWith('refused')) return ['bad', t.states.refused]
  return ['good', t.states.taken]
}

const COLUMNS = [
  { head: t.source, cell: ({ source }: Status) => source },
  {
    head: texts.words.state,
    cell: (one: Status) => {
      const [tone, text] = stateOf(one)
      return (
        <span class="row">
          <Badge tone={tone}>{text}</Badge>
          {one.warnings.length > 0 && (
            <Badge tone="warn">{counted(one.warnings.length, 'warning')}</Badge>
          )}
        </span>
      )
    },
  },
  { head: t.age, cell: ({ as_of: at }: Status) => <When at={at} none={t.never} /> },
  { head: t.lastPull, cell: ({ last_pull: at }: Status) => <When at={at} />, isWide: true },
  {
    head: t.schedule,
    cell: ({ every_minutes: every }: Status) => (every === null ? t.byHand : t.every(every)),
    isWide: true,
  },
  { head: t.rows, cell: ({ rows }: Status) => count(rows), isNumber: true },
  { head: t.rejected, cell: ({ rejected }: Status) => count(rejected), isNumber: true },
  { head: t.offers, cell: ({ offers }: Status) => count(offers), isNumber: true, isWide: true },
]
