/** All orders with the filters of the history, and those that wait for something. */
import type { Output } from '../../core/api.js'
import { distributorOptions, useDistributors } from '../../core/distributors.js'
import { linkTo, place, refine } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { useCall, useShop } from '../../core/use-call.js'
import { filter, useTyped } from '../../core/use-query.js'
import { PageHead, Section, Tabs, When } from '../../parts/basics.js'
import { Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded, Waiting } from '../../parts/states.js'
import { Pager, Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { Paused } from './paused.js'
import { Mode, Status } from './statuses.js'

const t = texts.orders
const VIEWS = ['history', 'review', 'open', 'paperwork'] as const
type View = (typeof VIEWS)[number]
const SIZE = 25

export function OrderList() {
  const { query } = place.value
  const view = VIEWS.find((one) => one === query['show']) ?? 'history'
  const { shop } = useShops()
  const waiting = useCall('overview.waiting', {}, { every: 60_000 })
  const paused = waiting.data?.paused
  return (
    <>
      <PageHead
        title={texts.pages.orders}
        question={t.question}
        actions={
          <a class="button" href={linkTo(['orders', 'preflight'])}>
            {t.preflight}
          </a>
        }
      />
      {paused && <Paused reason={paused} onDone={waiting.reload} />}
      <Tabs
        label={t.views}
        tabs={VIEWS.map((one) => ({
          href: linkTo(['orders'], { show: one === 'history' ? undefined : one }),
          label: t[one],
          isCurrent: one === view,
        }))}
      />
      {view !== 'history' ? (
        <Waits view={view} />
      ) : shop ? (
        <History shop={shop} />
      ) : shop === null ? (
        <Empty title={t.noShop}>{t.noShopMore}</Empty>
      ) : (
        <Waiting lines={8} />
      )}
    </>
  )
}

const STATUSES = [
  'Pending',
  'Submitted',
  'FFL Hold',
  'Backordered',
  'Partially Fulfilled',
  'Not Fulfilled',
  'Fulfilled',
  'Cancelled',
]
const SHIP_STATUSES = [
  'pre_transit',
  'in_transit',
  'out_for_delivery',
  'delivered',
  'return_to_sender',
  'failure',
]
const FILTERS = ['reference', 'order_status', 'ship_status', 'distid', 'from', 'to'] as const

function History({ shop }: { shop: string }) {
  const { query } = place.value
  const offset = Number(query['offset'] ?? 0) || 0
  const search = query['search'] ?? ''
  const given = Object.fromEntries(
    FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]),
  )
  const hasFilters = Object.keys(given).length > 0
  // A search looks at customers too; the history knows the exact filters.
  const found = useShop(
    'orders.list',
    search !== '' && !hasFilters
      ? { subscriber: shop, query: { search, limit: SIZE, offset } }
      : null,
  )
  const history = useShop(
    'fulfillment.history',
    search === '' || hasFilters
      ? {
          subscriber: shop,
          query: { ...given, ...(search && { reference: search }), limit: SIZE, offset },
        }
      : null,
  )
  return (
    <>
      <HistoryFilters />
      <Section title={t.history}>
        {search !== '' && !hasFilters ? (
          <Loaded reading={found} lines={10}>
            {(page) => <Records {...page} offset={offset} />}
          </Loaded>
        ) : (
          <Loaded reading={history} lines={10}>
            {(page) => <Records {...page} offset={offset} />}
          </Loaded>
        )}
      </Section>
      {(history.data?.errors.length ?? 0) > 0 && (
        <Section title={t.failed} note={t.failedMore}>
          <Table
            label={t.failed}
            rows={history.data!.errors}
            keyOf={(one) => `${one.order_id} ${one.distid} ${one.failure_timestamp}`}
            hrefOf={(one) => linkTo(['orders', one.order_id])}
            columns={[
              { head: t.order, cell: (one) => one.order_id },
              { head: t.placed, cell: (one) => <When at={one.failure_timestamp} /> },
              { head: texts.words.distributor, cell: (one) => one.distid },
              { head: t.why, cell: (one) => one.failure_reason, isLong: true },
            ]}
          />
        </Section>
      )}
    </>
  )
}

function HistoryFilters() {
  const { query } = place.value
  const [search, setSearch] = useTyped('search')
  const of = (name: string) => query[name] ?? ''
  const distributors = useDistributors()
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <div class="first">
        <TextField
          label={t.search}
          placeholder={t.reference}
          type="search"
          value={search}
          onInput={setSearch}
          isSearch
        />
      </div>
      <Select
        label={t.status}
        value={of('order_status')}
        options={[['', texts.words.any], ...STATUSES]}
        onChange={filter('order_status')}
      />
      <Select
        label={t.shipped}
        value={of('ship_status')}
        options={[
          ['', texts.words.any],
          ...SHIP_STATUSES.map((one) => [one, one.replaceAll('_', ' ')] as const),
        ]}
        onChange={filter('ship_status')}
      />
      <Select
        label={texts.words.distributor}
        value={of('distid')}
        options={[['', texts.words.any], ...distributorOptions(distributors)]}
        onChange={filter('distid')}
      />
      <TextField label={t.from} type="date" value={of('from')} onInput={filter('from')} />
      <TextField label={t.to} type="date" value={of('to')} onInput={filter('to')} />
    </form>
  )
}

type Record_ = {
  order_id: string
  order_date: string
  distid: string
  customer_name: string
  order_status: string
  ship_status: string | null
  po_number: string
  distributor_order_id: string | null
}

function Records({
  orders,
  count,
  offset,
}: {
  orders: readonly Record_[]
  count: number
  offset: number
}) {
  return (
    <>
      <Table
        label={t.history}
        rows={orders}
        keyOf={(one) => `${one.order_id} ${one.distid} ${one.po_number}`}
        hrefOf={(one) => linkTo(['orders', one.order_id])}
        empty={<Empty title={t.none}>{t.noneMore}</Empty>}
        columns={[
          { head: t.order, cell: (one) => one.order_id },
          { head: t.placed, cell: (one) => <When at={one.order_date} /> },
          { head: t.customer, cell: (one) => one.customer_name, isWide: true },
          { head: texts.words.distributor, cell: (one) => one.distid },
          { head: t.status, cell: (one) => <Status status={one.order_status} /> },
          { head: t.shipped, cell: (one) => <Status status={one.ship_status} /> },
          { head: t.po, cell: (one) => <code>{one.po_number}</code>, isWide: true },
          { head: t.number, cell: (one) => one.distributor_order_id ?? '–', isWide: true },
        ]}
      />
      <Pager
        from={offset}
        shown={orders.length}
        total={count}
        size={SIZE}
        onGo={(from) => refine({ offset: from || undefined })}
      />
    </>
  )
}

const EMPTY = {
  review: [t.noneReview, t.noneReviewMore],
  open: [t.noneOpen, t.noneOpenMore],
  paperwork: [t.nonePaperwork, t.nonePaperworkMore],
} as const

function Waits({ view }: { view: Exclude<View, 'history'> }) {
  const reading = useCall('orders.list', { state: view, limit: 200 }, { every: 15_000 })
  const [title, more] = EMPTY[view]
  return (
    <Section title={t[view]}>
      <Loaded reading={reading} lines={6}>
        {({ orders }) => (
          <Table
            label={t[view]}
            rows={orders}
            keyOf={({ id }) => id}
            hrefOf={({ order_id: id, subscriber }) => linkTo(['orders', id], { shop: subscriber })}
            empty={<Empty title={title}>{more}</Empty>}
            columns={waitingColumns(view)}
          />
        )}
      </Loaded>
    </Section>
  )
}

type Listed = Output<'orders.list'>['orders'][number]

function waitingColumns(view: View) {
  return [
    { head: t.order, cell: (one: Listed) => one.order_id },
    { head: texts.words.shop, cell: (one: Listed) => one.subscriber, isWide: true },
    { head: texts.words.distributor, cell: (one: Listed) => one.distid },
    { head: texts.words.state, cell: (one: Listed) => <Status status={one.state} /> },
    { head: t.mode, cell: (one: Listed) => <Mode mode={one.mode} />, isWide: true },
    { head: t.age, cell: (one: Listed) => <When at={one.placed_at} /> },
    ...(view === 'paperwork'
      ? [
          { head: t.due, cell: (one: Listed) => <When at={one.paperwork?.due} /> },
          {
            head: t.send,
            cell: (one: Listed) => one.paperwork && <Papers {...one.paperwork} />,
            isLong: true,
          },
        ]
      : [{ head: t.why, cell: (one: Listed) => one.reason ?? '–', isLong: true }]),
  ]
}

function Papers({ what, recipients }: { what: string; recipients: readonly string[] }) {
  return (
    <>
      {what}
      {recipients.length > 0 && <> · {recipients.join(', ')}</>}
    </>
  )
}
