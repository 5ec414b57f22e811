/** One order: what happened to it, the journal's lines beside it, and the decision that it may need. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { words } from '../../core/format.js'
import { linkTo, place } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Copy, Facts, PageHead, Section, When } from '../../parts/basics.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { Timeline } from '../../parts/timeline.js'
import type { Happening } from '../../parts/timeline.js'
import { texts } from '../../texts.js'
import { Resolve } from './resolve.js'
import { Mode, Status } from './statuses.js'
import { Transcripts } from './transcripts.js'

const t = texts.orders
type Shown = Output<'orders.show'>[number]
type ShownRecord = Shown['fulfillment_orders'][number]
type Purchase = ShownRecord['purchase_orders'][number]

export function OneOrder({ order }: { order: string }) {
  const { shop } = place.value.query
  const reading = useCall(
    'orders.show',
    { order, transcript: true, ...(shop && { subscriber: shop }) },
    { every: 10_000 },
  )
  return (
    <>
      <PageHead
        title={
          <span class="row">
            {order}
            <Copy text={order} label={texts.words.copy} />
          </span>
        }
        question={t.one}
        back={{ href: linkTo(['orders']), label: texts.pages.orders }}
      />
      <Loaded reading={reading} lines={12}>
        {(placements) =>
          placements.map((placement) => (
            <Placement
              key={`${placement.subscriber} ${placement.placed_at}`}
              placement={placement}
              onChange={reading.reload}
            />
          ))
        }
      </Loaded>
    </>
  )
}

function Placement({ placement, onChange }: { placement: Shown; onChange: () => Promise<void> }) {
  return (
    <>
      <Section title={t.intent(placement.attempt)} id={`placed-${placement.attempt}`}>
        <Facts
          facts={[
            [t.placed, <When at={placement.placed_at} />],
            [texts.words.shop, placement.subscriber],
            [t.mode, <Mode mode={placement.mode} />],
            [t.customer, placement.fulfillment_orders[0]?.record.customer_name ?? '–'],
            [t.key, placement.key_id ? <code>{placement.key_id}</code> : texts.words.none],
          ]}
        />
      </Section>
      {placement.fulfillment_orders.map((one) => (
        <OneRecord
          key={one.record.po_number}
          shown={one}
          placement={placement}
          onChange={onChange}
        />
      ))}
    </>
  )
}

function OneRecord({
  shown,
  placement,
  onChange,
}: {
  shown: ShownRecord
  placement: Shown
  onChange: () => Promise<void>
}) {
  const { record, purchase_orders: purchases, parcels } = shown
  const lines = purchases.flatMap((purchase) =>
    purchase.lines.map((line) => ({ ...line, id: purchase.id })),
  )
  return (
    <>
      <Section
        title={t.fulfillment(record.distid)}
        id={`record-${record.po_number}`}
        aside={
          <>
            <Status status={record.order_status} />
            {record.ship_status !== null && <Status status={record.ship_status} />}
          </>
        }
      >
        <Facts facts={factsOf(shown)} />
        <Table
          label={t.items}
          rows={itemsOf(record.dist_order_items)}
          keyOf={({ distsku }) => distsku}
          columns={[
            { head: t.sku, cell: ({ distsku }) => distsku },
            {
              head: 'UPC',
              cell: ({ upc }) =>
                upc ? <a href={linkTo(['catalog', upc])}>{upc}</a> : <span>–</span>,
            },
            { head: t.qty, cell: ({ qty }) => qty, isNumber: true },
          ]}
        />
      </Section>
      {purchases.map((purchase) => (
        <OnePurchase
          key={purchase.id}
          purchase={purchase}
          placement={placement}
          onChange={onChange}
        />
      ))}
      <div class="columns">
        <Section title={t.timeline} id={`timeline-${record.po_number}`}>
          <Timeline label={t.timeline} happenings={happeningsOf(shown, placement)} />
        </Section>
        <Section title={t.journal} note={t.journalNote} id={`journal-${record.po_number}`}>
          <Table
            label={t.journal}
            rows={lines}
            keyOf={({ seq, id }) => `${seq} ${id}`}
            columns={[
              { head: '#', cell: ({ seq }) => seq, isNumber: true },
              { head: texts.words.when, cell: ({ at }) => <When at={at} /> },
              { head: t.what, cell: ({ what }) => what, isLong: true },
            ]}
          />
        </Section>
      </div>
      {parcels.length > 0 && (
        <Section title={t.parcels} id={`parcels-${record.po_number}`}>
          <Table
            label={t.parcels}
            rows={parcels}
            keyOf={(parcel) => parcel.tracking_number}
            columns={[
              { head: t.tracking, cell: (parcel) => <code>{parcel.tracking_number}</code> },
              { head: t.carrier, cell: (parcel) => parcel.company ?? '–' },
              { head: t.method, cell: (parcel) => parcel.method ?? '–' },
              { head: t.shippedOn, cell: (parcel) => <When at={parcel.shipped_on} /> },
              { head: texts.words.state, cell: (parcel) => <Status status={parcel.status} /> },
            ]}
          />
        </Section>
      )}
    </>
  )
}

function factsOf({ record, po_given: given }: ShownRecord): [string, ComponentChildren][] {
  return [
    [t.po, <code>{record.po_number}</code>],
    ...(given === record.po_number
      ? []
      : [[t.po, <code>{given}</code>] as [string, ComponentChildren]]),
    [t.number, record.distributor_order_id ?? '–'],
    [
      t.tracking,
      record.ship_tracking_number && record.ship_tracking_url ? (
        <a href={record.ship_tracking_url} rel="noreferrer" target="_blank">
          {record.ship_tracking_number}
        </a>
      ) : (
        (record.ship_tracking_number ?? '–')
      ),
    ],
    [
      t.ffl,
      record.ffl ? <a href={linkTo(['dealers', record.ffl])}>{record.ffl}</a> : texts.words.none,
    ],
    [t.store, record.ship_to_store === 1 ? texts.words.yes : texts.words.no],
  ]
}

function itemsOf(text: string): { distsku: string; upc: string; qty: number }[] {
  return JSON.parse(text) as { distsku: string; upc: string; qty: number }[]
}

/** States that a person may settle. */
const UNSETTLED = new Set(['unknown', 'review'])

function OnePurchase({
  purchase,
  placement,
  onChange,
}: {
  purchase: Purchase
  placement: Shown
  onChange: () => Promise<void>
}) {
  const [isDeciding, setDeciding] = useState(false)
  const { id, state, sends, reason, refusal, next_at: next } = purchase
  return (
    <Section
      title={`PO ${id}`}
      id={`po-${id}`}
      aside={
        <>
          <Status status={state} />
          {UNSETTLED.has(state) && !isViewer.value && (
            <Button kind="primary" onClick={() => setDeciding(true)}>
              {t.resolve}
            </Button>
          )}
        </>
      }
    >
      <Facts
        facts={[
          [t.sends, sends],
          [t.number, purchase.distributor_order_id ?? '–'],
          [t.nextLook, <When at={next} none={texts.words.none} />],
          ...(reason ? [[t.why, reason] as [string, string]] : []),
          ...(refusal ? [[texts.words.reason, refusal] as [string, string]] : []),
        ]}
      />
      <Transcripts transcripts={purchase.transcripts ?? []} />
      {isDeciding && (
        <Resolve
          order={purchase.ref}
          subscriber={placement.subscriber}
          onClose={() => setDeciding(false)}
          onDone={onChange}
        />
      )}
    </Section>
  )
}

/** Intent, sends, looks, news and parcels, oldest first. */
function happeningsOf(
  { purchase_orders: purchases, changes, parcels }: ShownRecord,
  placement: Shown,
): Happening[] {
  const exchanges = purchases.flatMap(({ id, transcripts = [] }) =>
    transcripts.map(({ kind, at, exchanges }): Happening => ({
      key: `${kind} ${id} ${at}`,
      at,
      what: kind === 'send' ? t.sent : t.asked,
      source: (
        <>
          PO {id}, {t.wire}
        </>
      ),
      tone: exchanges.some(({ fault }) => fault !== null) ? 'warn' : 'calm',
    })),
  )
  const news = changes.map(({ at, field, before, after }, place): Happening => ({
    key: `change ${place}`,
    at,
    what: t.changed(words(field), before, after),
    source: t.record,
    tone: after === 'Fulfilled' || after === 'delivered' ? 'good' : 'calm',
  }))
  const shipped = parcels
    .filter(({ shipped_on: at }) => at !== null)
    .map(({ tracking_number: number, shipped_on: at }): Happening => ({
      key: `parcel ${number}`,
      at: at!,
      what: t.parcelLeft(number),
      source: t.parcel,
      tone: 'good',
    }))
  const states = purchases.flatMap(({ id, lines }) =>
    lines.map(({ seq, at, what }): Happening => ({
      key: `line ${seq} ${id}`,
      at,
      what,
      source: <Badge>PO {id}</Badge>,
      tone: /review|refus|expired/.test(what)
        ? 'bad'
        : /placed|confirmed/.test(what)
          ? 'good'
          : 'calm',
    })),
  )
  const placed: Happening = {
    key: 'placed',
    at: placement.placed_at,
    what: t.intent(placement.attempt),
    source: t.order_,
    tone: 'accent',
  }
  return [placed, ...states, ...exchanges, ...news, ...shipped].toSorted((a, b) =>
    a.at.localeCompare(b.at),
  )
}
