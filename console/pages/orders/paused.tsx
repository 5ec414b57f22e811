/** Orders that are paused: why, and letting them go on, in the two steps of the command. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { count } from '../../core/format.js'
import { runLong, useLong } from '../../core/jobs.js'
import { isViewer } from '../../core/session.js'
import { Button, Facts, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Check } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.orders.paused
type Report = Output<'orders.lookBack'>

export function Paused({ reason, onDone }: { reason: string; onDone: () => Promise<void> }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div class="fault">
      <Icon name="bad" />
      <div>
        <p class="strong">{t.title}</p>
        <p>{reason}</p>
        {!isViewer.value && <Button onClick={() => setOpen(true)}>{t.look}</Button>}
      </div>
      {isOpen && <LookBack onClose={() => setOpen(false)} onDone={onDone} />}
    </div>
  )
}

function LookBack({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const reading = useLong('orders.lookBack', { dry_run: true })
  const [after, setAfter] = useState<Report | null>(null)
  const [isRead, setRead] = useState(false)
  return (
    <Dialog title={t.look} onClose={onClose}>
      <Loaded reading={reading} lines={6}>
        {(before) => {
          const { in_doubt: doubts, others } = after ?? before
          const isDoubtful = doubts.length > 0 || others.length > 0
          return (
            <ActForm
              act={t.resume}
              kind="danger"
              onCancel={onClose}
              isReady={!isDoubtful || isRead}
              doIt={async () => {
                const report = await resume(isRead ? (after ?? before) : null)
                await onDone()
                if (!report.resumed) {
                  setRead(false)
                  return setAfter(report)
                }
                tell(t.resumed)
                onClose()
              }}
            >
              <Shown report={after ?? before} />
              {after !== null && <p class="strong">{t.stillPaused}</p>}
              {isDoubtful && <Check label={t.haveLooked} isOn={isRead} onChange={setRead} />}
            </ActForm>
          )
        }}
      </Loaded>
    </Dialog>
  )
}

/**
 * Lets orders go on where nothing is in doubt but what somebody has looked at: `seen`. What turned
 * up since then is shown first.
 */
async function resume(seen: Report | null): Promise<Report> {
  const report = await runLong('orders.lookBack', { resume: true })
  if (report.resumed || !seen || doubtsOf(report) !== doubtsOf(seen)) return report
  return runLong('orders.lookBack', { resume: true, acknowledged: true })
}

const doubtsOf = ({ in_doubt: doubts, others, review }: Report) =>
  JSON.stringify([doubts, others, review])

function Shown({ report }: { report: Report }) {
  const { since, open_before: before, review, adopted, others, in_doubt: doubts } = report
  return (
    <>
      <Facts
        facts={[
          [t.since, <When at={since} />],
          [t.open, count(before)],
          [t.review, count(review)],
          [t.adopted, count(adopted.length)],
        ]}
      />
      {others.length > 0 && (
        <Table
          label={t.others}
          rows={others}
          keyOf={({ distid, distributor_order_id: number, po_number: po }) =>
            `${distid} ${number ?? ''} ${po}`
          }
          columns={[
            { head: texts.words.distributor, cell: ({ distid }) => distid },
            { head: texts.orders.po, cell: ({ po_number: po }) => <code>{po}</code> },
            { head: texts.orders.number, cell: ({ distributor_order_id: number }) => number },
            { head: texts.orders.why, cell: ({ reason }) => reason, isLong: true },
          ]}
        />
      )}
      {doubts.length > 0 && (
        <Table
          label={t.doubts}
          rows={doubts}
          keyOf={({ subscriber, distid, mode }) => `${subscriber} ${distid} ${mode}`}
          columns={[
            { head: texts.words.shop, cell: ({ subscriber }) => subscriber },
            { head: texts.words.distributor, cell: ({ distid }) => distid },
            { head: texts.orders.why, cell: ({ reason }) => reason, isLong: true },
          ]}
        />
      )}
    </>
  )
}
