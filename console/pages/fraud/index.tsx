/** Fraud: counts, quotas and partners; never what a dealer reported. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call, upload } from '../../core/call.js'
import { count } from '../../core/format.js'
import { runLong } from '../../core/jobs.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Button, PageHead, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { FileField, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.fraud
type Stats = Output<'fraud.stats'>

export function Fraud() {
  const reading = useCall('fraud.stats', {})
  const [isRotating, setRotating] = useState(false)
  async function rotate() {
    setRotating(true)
    await act(async () => {
      const { reports } = await runLong('fraud.rotateKey', {})
      await reading.reload()
      return t.rotated(reports)
    })
    setRotating(false)
  }
  return (
    <>
      <PageHead
        title={texts.pages.fraud}
        question={t.question}
        actions={
          !isViewer.value && (
            <Button onClick={rotate} isBusy={isRotating}>
              {t.rotate}
            </Button>
          )
        }
      />
      <Loaded reading={reading} lines={10}>
        {(stats) => (
          <>
            <Counts stats={stats} />
            <div class="columns">
              <Section title={t.byShop} note={t.byShopNote}>
                <Table
                  label={t.byShop}
                  rows={stats.by_subscriber}
                  keyOf={({ subscriber }) => subscriber}
                  empty={<Empty title={t.none}>{t.noneMore}</Empty>}
                  columns={[
                    { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
                    { head: t.reports, cell: ({ reports }) => count(reports), isNumber: true },
                  ]}
                />
              </Section>
              <Partners stats={stats} onChange={reading.reload} />
            </div>
            <Quotas />
          </>
        )}
      </Loaded>
    </>
  )
}

function Counts({ stats }: { stats: Stats }) {
  const tiles = [
    [t.reports, count(stats.reports)],
    [t.dealers, count(stats.dealers)],
    [t.signals, count(stats.signals)],
    [t.oldKeys, count(stats.under_old_keys)],
  ] as const
  return (
    <div class="tiles">
      {tiles.map(([name, figure]) => (
        <div class="tile" key={name}>
          <span class="name">{name}</span>
          <span class="figure">{figure}</span>
        </div>
      ))}
      <div class="tile">
        <span class="name">{t.last}</span>
        <span>
          <When at={stats.last_reported} none={texts.words.none} />
        </span>
      </div>
    </div>
  )
}

/** What each key has used of what it may in a day. */
function Quotas() {
  const reading = useCall('fraud.quotas', {})
  return (
    <Section title={t.quotas} note={t.quotasNote}>
      <Loaded reading={reading} lines={4}>
        {({ limits, keys }) => (
          <Table
            label={t.quotas}
            rows={keys}
            keyOf={({ key }) => key}
            empty={<Empty title={t.unused}>{t.unusedMore}</Empty>}
            columns={[
              { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
              { head: t.key, cell: ({ name }) => name },
              ...(['checks', 'reports', 'removals'] as const).map((use) => ({
                head: t[use],
                cell: (key: Output<'fraud.quotas'>['keys'][number]) =>
                  t.usedOf(count(key[use]), count(limits[use])),
                isNumber: true,
              })),
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Partners({ stats, onChange }: { stats: Stats; onChange: () => Promise<void> }) {
  const [opened, setOpened] = useState<'add' | { remove: string } | { import: string } | null>(null)
  const done = async () => {
    setOpened(null)
    await onChange()
  }
  return (
    <Section
      title={t.partners}
      note={t.partnersNote}
      aside={!isViewer.value && <Button onClick={() => setOpened('add')}>{t.addPartner}</Button>}
    >
      <Table
        label={t.partners}
        rows={stats.partners}
        keyOf={({ partner }) => partner}
        empty={<Empty title={t.noPartners}>{t.noPartnersMore}</Empty>}
        columns={[
          { head: t.partner, cell: ({ partner }) => partner },
          { head: t.reports, cell: ({ reports }) => count(reports), isNumber: true },
          { head: t.made, cell: ({ made_at: at }) => <When at={at} /> },
          {
            head: texts.words.details,
            cell: ({ partner }) =>
              !isViewer.value && (
                <span class="row">
                  <Button onClick={() => setOpened({ import: partner })}>{t.importBatch}</Button>
                  <Button kind="quiet" onClick={() => setOpened({ remove: partner })}>
                    {texts.words.remove}
                  </Button>
                </span>
              ),
          },
        ]}
      />
      {opened === 'add' && <AddPartner onClose={() => setOpened(null)} onDone={done} />}
      {opened !== null && typeof opened === 'object' && 'remove' in opened && (
        <RemovePartner name={opened.remove} onClose={() => setOpened(null)} onDone={done} />
      )}
      {opened !== null && typeof opened === 'object' && 'import' in opened && (
        <ImportBatch partner={opened.import} onClose={() => setOpened(null)} onDone={done} />
      )}
    </Section>
  )
}

interface DialogProps {
  onClose: () => void
  onDone: () => Promise<void>
}

function AddPartner({ onClose, onDone }: DialogProps) {
  const [name, setName] = useState('')
  const [key, setKey] = useState('')
  return (
    <Dialog title={t.addPartner} onClose={onClose}>
      <ActForm
        act={t.addPartner}
        onCancel={onClose}
        isReady={name !== '' && key !== ''}
        doIt={async () => {
          await call('fraud.addPartner', { name, key })
          tell(t.partnerAdded(name))
          await onDone()
        }}
      >
        <TextField label={t.partner} help={t.partnerHelp} value={name} onInput={setName} isFirst />
        <TextField
          label={t.key}
          help={t.keyHelp}
          type="password"
          autocomplete="new-password"
          value={key}
          onInput={setKey}
        />
      </ActForm>
    </Dialog>
  )
}

function RemovePartner({ name, onClose, onDone }: DialogProps & { name: string }) {
  const reading = useCall('fraud.removePartner', { name, dry_run: true })
  return (
    <Dialog title={t.removePartner(name)} onClose={onClose}>
      <ActForm
        act={texts.words.remove}
        kind="danger"
        onCancel={onClose}
        isReady={reading.data !== undefined}
        doIt={async () => {
          await call('fraud.removePartner', { name })
          await onDone()
        }}
      >
        <Loaded reading={reading} lines={1}>
          {({ reports }) => <p>{t.removeMeans(reports)}</p>}
        </Loaded>
      </ActForm>
    </Dialog>
  )
}

function ImportBatch({ partner, onClose, onDone }: DialogProps & { partner: string }) {
  const [file, setFile] = useState<File | null>(null)
  return (
    <Dialog title={t.importFrom(partner)} onClose={onClose}>
      <ActForm
        act={t.importBatch}
        onCancel={onClose}
        isReady={file !== null}
        doIt={async () => {
          const { reports } = await runLong('fraud.importBatch', {
            partner,
            upload: await upload(file!),
          })
          tell(t.imported(reports))
          await onDone()
        }}
      >
        <p>{t.importMeans}</p>
        <FileField label={texts.words.file} onFile={setFile} />
      </ActForm>
    </Dialog>
  )
}
