/** The ATF's list, or a distributor's of licenses on file: looked at first, then taken in. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { upload } from '../../core/call.js'
import { count } from '../../core/format.js'
import { runLong } from '../../core/jobs.js'
import { useDistributors } from '../../core/distributors.js'
import { isViewer } from '../../core/session.js'
import { Facts, Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { Check, FileField, Select } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { Rejects } from '../feeds/figures.js'

const t = texts.dealers
type Report = Output<'ffls.import'> | Output<'ffls.onFile'>

interface Looked {
  distid: string
  uploaded: string
  report: Report
}

/** Does it, or only tells what it would do. */
function importList(
  { distid, uploaded }: Pick<Looked, 'distid' | 'uploaded'>,
  { isTrial, accept = false }: { isTrial: boolean; accept?: boolean },
): Promise<Report> {
  return distid === ''
    ? runLong('ffls.import', { upload: uploaded, accept, dry_run: isTrial })
    : runLong('ffls.onFile', { distid, upload: uploaded, force: accept, dry_run: isTrial })
}

export function ImportDealers() {
  const distributors = useDistributors()
  const [distid, setDistid] = useState('')
  const [file, setFile] = useState<File | null>(null)
  const [looked, setLooked] = useState<Looked | null>(null)
  return (
    <>
      <Section title={t.import} note={t.importNote}>
        <div class="body narrow">
          <ActForm
            act={t.lookFirst}
            isReady={file !== null}
            doIt={async () => {
              const uploaded = await upload(file!)
              const report = await importList({ distid, uploaded }, { isTrial: true })
              setLooked({ distid, uploaded, report })
            }}
          >
            <Select
              label={t.whichList}
              value={distid}
              options={[
                ['', t.atfList],
                ...distributors.map((one) => [one.distid, t.listOf(one.name)] as const),
              ]}
              onChange={(value) => {
                setDistid(value)
                setLooked(null)
              }}
            />
            <FileField label={texts.words.file} help={t.fileHelp} onFile={setFile} />
          </ActForm>
        </div>
      </Section>
      {looked && <Looked looked={looked} onDone={() => setLooked(null)} />}
    </>
  )
}

const FIGURES = [
  'rows',
  'added',
  'renewed',
  'changed',
  'unchanged',
  'marked',
  'unmarked',
  'gone',
  'unknown',
  'rejected',
] as const

function Looked({ looked, onDone }: { looked: Looked; onDone: () => void }) {
  const [accept, setAccept] = useState(false)
  const { report } = looked
  const figures = report as unknown as Readonly<Record<string, unknown>>
  const held = Array.isArray(report.kept)
    ? report.kept
    : report.kept
      ? [{ state: '–', ...report.kept }]
      : []
  return (
    <>
      <Section title={t.would} id="would">
        <Facts
          facts={FIGURES.filter((name) => typeof figures[name] === 'number').map(
            (name) => [t.figures[name], count(figures[name] as number)] as const,
          )}
        />
        {held.length > 0 && (
          <>
            <div class="body">
              <div class="notice">
                <Icon name="warn" />
                <p>{t.heldNote}</p>
              </div>
            </div>
            <Table
              label={t.held}
              rows={held}
              keyOf={({ state }) => state}
              columns={[
                { head: texts.restrictions.state, cell: ({ state }) => state },
                { head: t.missing, cell: ({ missing }) => count(missing), isNumber: true },
                { head: t.known, cell: ({ known }) => count(known), isNumber: true },
                { head: texts.words.reason, cell: ({ reason }) => reason, isLong: true },
              ]}
            />
          </>
        )}
        <div class="body">
          <ActForm
            act={t.takeIn}
            kind={accept ? 'danger' : 'primary'}
            isReady={!isViewer.value}
            doIt={async () => {
              await importList(looked, { isTrial: false, accept })
              tell(t.taken)
              onDone()
            }}
          >
            {held.length > 0 && (
              <Check
                label={t.acceptHeld}
                help={t.acceptHeldHelp}
                isOn={accept}
                onChange={setAccept}
              />
            )}
          </ActForm>
        </div>
      </Section>
      <Section title={texts.feeds.rejects}>
        <Rejects rows={report.rejects} />
      </Section>
    </>
  )
}
