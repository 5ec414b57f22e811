/** What the server does by itself, and how that went. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { runLong } from '../../core/jobs.js'
import { words } from '../../core/format.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.operating
type Job = Output<'schedule.list'>[number]

export function Jobs() {
  const reading = useCall('schedule.list', {}, { every: 15_000 })
  const [busy, setBusy] = useState<string | null>(null)
  async function run(name: string) {
    setBusy(name)
    await act(async () => {
      await runLong('schedule.run', { name })
      await reading.reload()
      return t.ran(words(name))
    })
    setBusy(null)
  }
  return (
    <Section title={t.views.jobs} note={t.jobsNote}>
      <Loaded reading={reading} lines={8}>
        {(jobs) => (
          <Table
            label={t.views.jobs}
            rows={jobs}
            keyOf={({ name }) => name}
            columns={[
              { head: t.job, cell: ({ name }: Job) => words(name) },
              {
                head: texts.words.state,
                cell: ({ failures, last_error: error }) => (
                  <span class="row">
                    <Badge tone={failures > 0 ? 'bad' : 'good'}>
                      {failures > 0 ? t.failed(failures) : t.well}
                    </Badge>
                    {error && <span class="cut">{error}</span>}
                  </span>
                ),
              },
              { head: t.lastRun, cell: ({ last_finished_at: at }) => <When at={at} /> },
              { head: t.nextRun, cell: ({ next_at: at }) => <When at={at} />, isWide: true },
              {
                head: t.run,
                cell: ({ name }) => (
                  <Button
                    disabled={isViewer.value}
                    isBusy={busy === name}
                    label={`${t.run}: ${words(name)}`}
                    onClick={() => run(name)}
                  >
                    {t.run}
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
