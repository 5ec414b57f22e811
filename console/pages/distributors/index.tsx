/** Distributors: all of them, and one with what it was asked lately. */
import { count } from '../../core/format.js'
import { linkTo, place } from '../../core/router.js'
import { useCall } from '../../core/use-call.js'
import { Badge, PageHead, Section } from '../../parts/basics.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { OneDistributor } from './one.js'

const t = texts.distributors

export function Distributors() {
  const [, distid] = place.value.path
  return distid === undefined ? (
    <DistributorList />
  ) : (
    <OneDistributor key={distid} distid={distid} />
  )
}

function DistributorList() {
  const reading = useCall('distributors.list', {})
  return (
    <>
      <PageHead title={texts.pages.distributors} question={t.question} />
      <Section title={t.all} note={t.modesNote}>
        <Loaded reading={reading} lines={12}>
          {({ distributors }) => (
            <Table
              label={t.all}
              rows={distributors}
              keyOf={({ distid }) => distid}
              hrefOf={({ distid }) => linkTo(['distributors', distid])}
              columns={[
                { head: t.name, cell: ({ name }) => name },
                { head: t.distid, cell: ({ distid }) => <code>{distid}</code> },
                {
                  head: t.mode,
                  cell: ({ mode }) => (
                    <Badge tone={mode === 'live' ? 'bad' : 'calm'}>{t.modes[mode]}</Badge>
                  ),
                },
                {
                  head: t.orders,
                  cell: ({ automated_fulfillment: takes }) => (takes ? t.takesOrders : t.feedOnly),
                  isWide: true,
                },
                { head: t.offers, cell: ({ offers }) => count(offers), isNumber: true },
              ]}
            />
          )}
        </Loaded>
      </Section>
    </>
  )
}
