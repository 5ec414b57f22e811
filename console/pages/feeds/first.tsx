/** A feed from a file, in three steps: choose, look at twenty rows, take. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { CallError, upload } from '../../core/call.js'
import { count, money } from '../../core/format.js'
import { runLong } from '../../core/jobs.js'
import { distributorOptions, useDistributors } from '../../core/distributors.js'
import { linkTo } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { Badge, Button, PageHead, Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { FileField, Select } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Empty } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { Figures, Rejects } from './figures.js'
import type { FeedResult } from './figures.js'

const t = texts.feeds
type Checked = Output<'feeds.check'>

interface Chosen {
  distid: string
  subscriber: string
  uploaded: string
  checked: Checked
}

export function FirstImport() {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [taken, setTaken] = useState<FeedResult | null>(null)
  const step = taken ? 2 : chosen ? 1 : 0
  return (
    <>
      <PageHead
        title={t.upload}
        question={t.firstQuestion}
        back={{ href: linkTo(['feeds']), label: texts.pages.feeds }}
      />
      <ol class="steps">
        {t.steps.map((name, place) => (
          <li
            key={name}
            aria-current={place === step ? 'step' : undefined}
            class={place < step ? 'done' : ''}
          >
            {name}
          </li>
        ))}
      </ol>
      {taken ? (
        <Taken result={taken} />
      ) : chosen ? (
        <Look chosen={chosen} onBack={() => setChosen(null)} onTaken={setTaken} />
      ) : (
        <Choose onChosen={setChosen} />
      )}
    </>
  )
}

function Choose({ onChosen }: { onChosen: (chosen: Chosen) => void }) {
  const distributors = useDistributors()
  const { shops } = useShops()
  const [distid, setDistid] = useState('')
  const [subscriber, setSubscriber] = useState('')
  const [file, setFile] = useState<File | null>(null)
  return (
    <Section title={t.steps[0]}>
      <div class="body narrow">
        <ActForm
          act={t.readIt}
          isReady={distid !== '' && file !== null}
          doIt={async () => {
            const uploaded = await upload(file!)
            const checked = await runLong('feeds.check', { preset: distid, upload: uploaded })
            onChosen({ distid, subscriber, uploaded, checked })
          }}
        >
          <Select
            label={texts.words.distributor}
            value={distid}
            options={[['', t.choose], ...distributorOptions(distributors)]}
            onChange={setDistid}
          />
          <Select
            label={t.whose}
            value={subscriber}
            help={t.whoseHelp}
            options={[['', t.forAll], ...shops.map(({ id, name }) => [id, name] as const)]}
            onChange={setSubscriber}
          />
          <FileField label={texts.words.file} help={t.fileHelp} onFile={setFile} />
        </ActForm>
      </div>
    </Section>
  )
}

function Look({
  chosen,
  onBack,
  onTaken,
}: {
  chosen: Chosen
  onBack: () => void
  onTaken: (result: FeedResult) => void
}) {
  const { checked, distid, subscriber, uploaded } = chosen
  return (
    <>
      <Section
        title={t.verdict}
        aside={
          <Badge tone={checked.refused.length > 0 ? 'bad' : 'good'}>
            {checked.refused.length > 0 ? t.states.refused : t.good}
          </Badge>
        }
      >
        <div class="body stack">
          {checked.refused.length > 0 && (
            <div class="fault">
              <Icon name="bad" />
              <ul>
                {checked.refused.map((reason) => (
                  <li key={reason}>{reason}</li>
                ))}
              </ul>
            </div>
          )}
          {checked.better_preset && <p class="notice">{t.better(checked.better_preset)}</p>}
        </div>
        {checked.import && <Figures would={checked.import} last={null} />}
        {!checked.import && (
          <Empty
            title={t.unread}
            action={
              <Button kind="primary" onClick={onBack}>
                {t.another}
              </Button>
            }
          >
            {t.unreadable}
          </Empty>
        )}
        {checked.import && (
          <div class="body">
            <ActForm
              act={checked.refused.length > 0 ? t.takeAnyway : t.take}
              kind={checked.refused.length > 0 ? 'danger' : 'primary'}
              onCancel={onBack}
              doIt={async () => {
                const result = await runLong('feeds.import', {
                  distid,
                  preset: checked.preset,
                  ...(subscriber && { subscriber }),
                  upload: uploaded,
                  force: checked.refused.length > 0,
                })
                if (result.outcome === 'refused')
                  throw new CallError('refused', 0, result.reasons.join('; '))
                onTaken(result)
              }}
            >
              <p class="quiet">{t.takeNote}</p>
            </ActForm>
          </div>
        )}
      </Section>
      {checked.import && (
        <>
          <Section title={t.rejects}>
            <Rejects rows={checked.rejects} />
          </Section>
          <Section title={t.firstRows}>
            <MappedRows offers={checked.offers} />
          </Section>
        </>
      )}
    </>
  )
}

/** Whatever the rows hold, under the names that the catalog has. */
function MappedRows({ offers }: { offers: readonly Record<string, unknown>[] }) {
  const names = [...new Set(offers.flatMap((offer) => Object.keys(offer)))]
  const rows = offers.map((offer, place) => ({ offer, place }))
  return (
    <Table
      label={t.firstRows}
      rows={rows}
      keyOf={({ place }) => place}
      columns={names.map((name) => ({
        head: name,
        cell: ({ offer }: (typeof rows)[number]) => shown(name, offer[name]),
        isNumber: typeof offers[0]?.[name] === 'number',
      }))}
    />
  )
}

function shown(name: string, value: unknown) {
  if (value === null || value === undefined || value === '') return '–'
  if (typeof value === 'number' && !name.endsWith('_cat'))
    return /price|cost|msrp/.test(name) ? money(value) : count(value)
  return <span class="cut">{typeof value === 'string' ? value : JSON.stringify(value)}</span>
}

function Taken({ result }: { result: FeedResult }) {
  return (
    <Section title={t.outcome(result.outcome)} aside={<Badge tone="good">{result.source}</Badge>}>
      <Figures would={result} last={null} />
      <div class="body actions">
        <a class="button primary" href={linkTo(['feeds', result.source])}>
          {t.toSource}
        </a>
        <a class="button" href={linkTo(['catalog'])}>
          {t.toCatalog}
        </a>
      </div>
    </Section>
  )
}
