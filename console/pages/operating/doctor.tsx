/** Everything that can be looked at, and two chains that can be proved. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { count } from '../../core/format.js'
import { runLong } from '../../core/jobs.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { Check } from '../../parts/fields.js'
import { Findings, worstFirst } from '../../parts/findings.js'
import { Icon } from '../../parts/icons.js'
import { Loaded } from '../../parts/states.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.operating

export function Doctor() {
  const reading = useCall('overview.today', {})
  const odd = reading.data?.checks.filter(({ severity }) => /warn|bad/.test(severity)).length ?? 0
  return (
    <>
      <Section
        title={t.checks}
        aside={
          <>
            {reading.data && (
              <span>
                {t.looked} <When at={reading.data.at} />
              </span>
            )}
            {reading.data && (
              <Badge tone={odd > 0 ? 'warn' : 'good'}>
                {odd > 0 ? texts.today.notWell(odd) : texts.today.allWell}
              </Badge>
            )}
            <Button onClick={reading.reload} isBusy={reading.isLoading}>
              {t.lookAgain}
            </Button>
          </>
        }
      >
        <Loaded reading={reading} lines={8}>
          {({ checks }) => <Findings findings={worstFirst(checks)} />}
        </Loaded>
      </Section>
      <Examination />
      <div class="columns">
        <Proof
          title={t.journal}
          note={t.journalNote}
          prove={() => runLong('orders.verifyJournal', {})}
        />
        <Proof title={t.audit} note={t.auditNote} prove={() => runLong('audit.verify', {})} />
      </div>
    </>
  )
}

/** The command's own look: also at the machine, backups, egress and what only stands on the disk. */
function Examination() {
  const [found, setFound] = useState<Output<'overview.examine'> | null>(null)
  const [offline, setOffline] = useState(false)
  const [isBusy, setBusy] = useState(false)
  async function run() {
    setBusy(true)
    await act(async () => setFound(await runLong('overview.examine', { offline })))
    setBusy(false)
  }
  return (
    <Section
      title={t.examination}
      note={t.examinationNote}
      aside={
        <>
          <Check label={t.offline} isOn={offline} onChange={setOffline} />
          <Button onClick={run} isBusy={isBusy}>
            {t.examine}
          </Button>
        </>
      }
    >
      <div aria-live="polite">{found && <Findings findings={worstFirst(found.findings)} />}</div>
    </Section>
  )
}

type Proved = Output<'audit.verify'> | Output<'orders.verifyJournal'>

function Proof({
  title,
  note,
  prove,
}: {
  title: string
  note: string
  prove: () => Promise<Proved>
}) {
  const [proved, setProved] = useState<Proved | null>(null)
  const [isBusy, setBusy] = useState(false)
  async function run() {
    setBusy(true)
    await act(async () => setProved(await prove()))
    setBusy(false)
  }
  return (
    <Section
      title={title}
      note={note}
      aside={
        <Button onClick={run} isBusy={isBusy}>
          {t.prove}
        </Button>
      }
    >
      <div class="body stack" aria-live="polite">
        {proved && (
          <div class={proved.sound ? 'notice calm' : 'fault'}>
            <Icon name={proved.sound ? 'good' : 'bad'} />
            <div>
              <p>
                {proved.sound
                  ? t.sound(count('lines' in proved ? proved.lines : proved.rows))
                  : t.broken(proved.faults.length)}
              </p>
              <ul>
                {proved.faults.map((fault) => (
                  <li key={`${fault.seq} ${fault.fault}`}>
                    {fault.seq} {fault.fault}
                  </li>
                ))}
              </ul>
            </div>
          </div>
        )}
        {proved?.head && (
          <p class="quiet">
            {t.head} <code>{`${proved.head.seq}:${proved.head.mac}`}</code>
          </p>
        )}
      </div>
    </Section>
  )
}
