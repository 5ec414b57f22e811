/** What an operator should hear of, and how it was delivered. */
import type { Output } from '../../core/api.js'
import { words } from '../../core/format.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Section, When } from '../../parts/basics.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { Receivers } from './receivers.js'

const t = texts.operating
type Event = Output<'events.list'>[number]
const TONES = { info: 'calm', warn: 'warn', bad: 'bad' } as const
const DELIVERIES = { waiting: 'warn', delivered: 'good', given_up: 'bad' } as const

export function Events() {
  return (
    <>
      <EventList />
      <Receivers />
    </>
  )
}

function EventList() {
  const reading = useCall('events.list', { limit: 200 }, { every: 30_000 })
  return (
    <Section title={t.views.events} note={t.eventsNote}>
      <Loaded reading={reading} lines={8}>
        {(events) => (
          <Table
            label={t.views.events}
            rows={events}
            keyOf={({ id }) => id}
            empty={<Empty title={t.noEvents}>{t.noEventsMore}</Empty>}
            columns={[
              { head: texts.words.when, cell: ({ at }: Event) => <When at={at} /> },
              { head: t.kind, cell: ({ kind }) => words(kind) },
              {
                head: texts.words.state,
                cell: ({ state, severity }) => (
                  <Badge tone={state === 'ended' ? 'good' : TONES[severity]}>
                    {t.states[state]}
                  </Badge>
                ),
              },
              { head: t.message, cell: ({ message }) => message, isLong: true },
              {
                head: t.deliveries,
                cell: ({ deliveries }) => (
                  <span class="row">
                    {deliveries.map(({ receiver, state }) => (
                      <Badge key={receiver} tone={DELIVERIES[state]}>
                        {receiver}
                      </Badge>
                    ))}
                  </span>
                ),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}
