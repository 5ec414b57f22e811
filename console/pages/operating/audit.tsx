/** What operators did, the newest first. */
import type { Output } from '../../core/api.js'
import { count } from '../../core/format.js'
import { place, refine } from '../../core/router.js'
import { useTyped } from '../../core/use-query.js'
import { useCall } from '../../core/use-call.js'
import { Button, Section, When } from '../../parts/basics.js'
import { TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.operating
const SIZE = 100
type Act = Output<'audit.list'>[number]

export function Audit() {
  const { query } = place.value
  const [action, setAction] = useTyped('action')
  const [actor, setActor] = useTyped('actor')
  const before = Number(query['before'] ?? 0) || undefined
  const reading = useCall('audit.list', {
    limit: SIZE,
    ...(query['action'] && { action: query['action'] }),
    ...(query['actor'] && { actor: query['actor'] }),
    ...(before && { before }),
  })
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <TextField
          label={t.action}
          value={action}
          onInput={setAction}
          placeholder="keys."
          isSearch
        />
        <TextField label={t.actor} value={actor} onInput={setActor} placeholder="console:pat" />
      </form>
      <Section title={t.views.audit}>
        <Loaded reading={reading} lines={12}>
          {(acts) => (
            <>
              <Table
                label={t.views.audit}
                rows={acts}
                keyOf={({ seq }) => seq}
                empty={<Empty title={t.noActs}>{t.noActsMore}</Empty>}
                columns={[
                  { head: '#', cell: ({ seq }: Act) => count(seq), isNumber: true },
                  { head: texts.words.when, cell: ({ at }) => <When at={at} /> },
                  { head: t.actor, cell: ({ actor: by }) => by },
                  { head: t.action, cell: ({ action: what }) => <code>{what}</code> },
                  {
                    head: texts.words.details,
                    isLong: true,
                    cell: ({ detail }) => (
                      <code class="cut" title={JSON.stringify(detail)}>
                        {JSON.stringify(detail)}
                      </code>
                    ),
                  },
                ]}
              />
              <div class="pager">
                <Button disabled={!before} onClick={() => refine({ before: undefined })}>
                  {t.newest}
                </Button>
                <Button
                  disabled={acts.length < SIZE}
                  onClick={() => refine({ before: acts.at(-1)?.seq })}
                >
                  {t.older}
                </Button>
              </div>
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}
