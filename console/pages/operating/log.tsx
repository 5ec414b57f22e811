/** The newest lines of the log, with a filter. */
import type { Output } from '../../core/api.js'
import { place, refine } from '../../core/router.js'
import { useCall } from '../../core/use-call.js'
import { useTyped } from '../../core/use-query.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.operating
const LEVELS = ['debug', 'info', 'warn', 'error'] as const
const TONES = { debug: 'calm', info: 'calm', warn: 'warn', error: 'bad' } as const
const LIMIT = 200
type Line = Output<'log.list'>[number]

export function Log() {
  const { query } = place.value
  const [contains, setContains] = useTyped('contains')
  const level = LEVELS.find((one) => one === query['level']) ?? 'debug'
  const reading = useCall(
    'log.list',
    { level, limit: LIMIT, ...(query['contains'] && { contains: query['contains'] }) },
    { every: 10_000 },
  )
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextField label={t.logContains} value={contains} onInput={setContains} isSearch />
        <Select
          label={t.logLevel}
          value={level}
          options={LEVELS.map((one) => [one, t.logLevels[one]] as const)}
          onChange={(value) => refine({ level: value === 'debug' ? undefined : value })}
        />
      </form>
      <Section
        title={t.views.log}
        note={t.logNote}
        aside={
          <Button onClick={reading.reload} isBusy={reading.isLoading}>
            {t.lookAgain}
          </Button>
        }
      >
        <Loaded reading={reading} lines={10}>
          {(lines) =>
            lines.length === 0 ? (
              <Empty title={t.noLines}>{t.noLinesMore}</Empty>
            ) : (
              <Table
                label={t.views.log}
                rows={lines.map((line, place) => ({ ...line, place }))}
                keyOf={({ time, place }) => `${time} ${lines.length - place}`}
                columns={[
                  { head: texts.words.when, cell: ({ time }: Line) => <When at={time} /> },
                  {
                    head: t.logLevel,
                    cell: ({ level: one }) => <Badge tone={TONES[one]}>{one}</Badge>,
                  },
                  { head: t.logMessage, cell: (line) => <Message {...line} />, isWide: true },
                ]}
              />
            )
          }
        </Loaded>
      </Section>
    </>
  )
}

function Message({ message, fields }: Line) {
  const isMore = Object.keys(fields).length > 0
  if (!isMore) return <>{message}</>
  return (
    <details>
      <summary>{message}</summary>
      <pre>{JSON.stringify(fields, null, 2)}</pre>
    </details>
  )
}
