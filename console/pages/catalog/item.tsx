/** One item: all its offers side by side, their course, and why each is shown or hidden. */
import type { Output } from '../../core/api.js'
import { count, money } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { useCall, useShop } from '../../core/use-call.js'
import { Badge, Copy, PageHead, Section } from '../../parts/basics.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { Course } from './course.js'

const t = texts.catalog
type Explained = Output<'catalog.explain'>[number]

export function OneItem({ shop, upc }: { shop: string; upc: string }) {
  const explained = useCall('catalog.explain', { subscriber: shop, upc })
  // What no feed has, nobody need be asked for.
  const isKnown = (explained.data?.length ?? 0) > 0
  const detail = useShop(
    'products.get',
    isKnown ? { subscriber: shop, params: { upc }, query: { ignore_restrictions: true } } : null,
  )
  const name = explained.data?.[0]?.name ?? upc
  return (
    <>
      <PageHead
        title={name}
        question={
          <span class="row">
            UPC {upc} <Copy text={upc} label={texts.words.copy} />
          </span>
        }
        back={{ href: linkTo(['catalog']), label: texts.pages.catalog }}
      />
      <Loaded reading={explained} lines={8}>
        {(offers) =>
          offers.length === 0 ? (
            <Empty title={t.nobody}>{t.nobodyMore}</Empty>
          ) : (
            <>
              <Offers offers={offers} details={detail.data?.offers ?? []} />
              <Why offers={offers} details={detail.data?.offers ?? []} />
              <Course upc={upc} key={upc} />
              <Texts details={detail.data?.offers ?? []} />
            </>
          )
        }
      </Loaded>
    </>
  )
}

type Detail = {
  distid: string
  stockid: string
  shipping_cost: number
  total_cost: number
  map_price: number | null
  msrp: number | null
  drop_ship_flg: number
  retail_price?: number | undefined
  description: string | null
  short_description: string | null
}

function Offers({ offers, details }: { offers: readonly Explained[]; details: readonly Detail[] }) {
  const rows = offers
    .map((offer) => ({
      ...offer,
      detail: details.find(
        ({ distid, stockid }) => distid === offer.distid && stockid === offer.stockid,
      ),
    }))
    .toSorted((a, b) => (a.unit_price ?? Infinity) - (b.unit_price ?? Infinity))
  return (
    <Section title={t.offers} note={t.offersNote}>
      <Table
        label={t.offers}
        rows={rows}
        keyOf={({ distid, stockid }) => `${distid} ${stockid}`}
        columns={[
          {
            head: texts.words.distributor,
            cell: ({ distid }) => <span class="strong">{distid}</span>,
          },
          { head: t.sku, cell: ({ distsku }) => <code>{distsku}</code> },
          {
            head: texts.words.state,
            cell: ({ visible }) => (
              <Badge tone={visible ? 'good' : 'warn'}>{visible ? t.visible : t.hidden}</Badge>
            ),
          },
          { head: t.price, cell: ({ unit_price: price }) => money(price), isNumber: true },
          { head: t.shipping, cell: ({ detail }) => money(detail?.shipping_cost), isNumber: true },
          { head: t.totalCost, cell: ({ detail }) => money(detail?.total_cost), isNumber: true },
          { head: t.map, cell: ({ detail }) => money(detail?.map_price), isNumber: true },
          { head: t.msrp, cell: ({ detail }) => money(detail?.msrp), isNumber: true },
          { head: t.retail, cell: ({ detail }) => money(detail?.retail_price), isNumber: true },
          { head: t.stock, cell: ({ qty_on_hand: qty }) => count(qty), isNumber: true },
          {
            head: t.dropShip,
            cell: ({ detail }) =>
              detail ? (detail.drop_ship_flg === 1 ? texts.words.yes : texts.words.no) : '–',
          },
        ]}
      />
    </Section>
  )
}

function Why({ offers, details }: { offers: readonly Explained[]; details: readonly Detail[] }) {
  return (
    <Section title={t.why}>
      <ul class="list">
        {offers.map((offer) => (
          <li key={`${offer.distid} ${offer.stockid}`} class="top">
            <Badge tone={offer.visible ? 'good' : 'warn'}>{offer.distid}</Badge>
            <div class="grow stack tight">
              <p>
                {offer.visible ? t.visible : t.hidden} · <code>{offer.distsku}</code>
              </p>
              <Costs
                detail={details.find(
                  ({ distid, stockid }) => distid === offer.distid && stockid === offer.stockid,
                )}
                price={offer.unit_price}
              />
              {offer.hidden_by.map(({ pointer, reason }) => (
                <p key={reason}>
                  {reason}
                  {pointer && (
                    <>
                      {' '}
                      <a href={linkTo(['configuration'], { at: pointer })}>
                        <code>{pointer}</code>
                      </a>
                    </>
                  )}
                </p>
              ))}
              {offer.borrowed && (
                <p class="quiet">
                  {t.borrowed}: {offer.borrowed.told_by.join(', ')}
                </p>
              )}
              {(offer.restricted_states?.length ?? 0) > 0 && (
                <p class="quiet">
                  {t.notTo} {offer.restricted_states!.join(', ')}
                </p>
              )}
            </div>
          </li>
        ))}
      </ul>
    </Section>
  )
}

/** How the figures of one offer come about. */
function Costs({ detail, price }: { detail: Detail | undefined; price: number | null }) {
  if (!detail || price === null) return null
  return (
    <p class="quiet">
      {t.landed(money(price), money(detail.shipping_cost), money(detail.total_cost))}
      {detail.retail_price !== undefined &&
        ` ${t.sold(money(detail.retail_price), detail.map_price === null ? null : money(detail.map_price))}`}
    </p>
  )
}

function Texts({ details }: { details: readonly Detail[] }) {
  const told = details.filter(({ description }) => description)
  if (told.length === 0) return null
  return (
    <Section title={t.description}>
      <ul class="list">
        {told.map(({ distid, stockid, description }) => (
          <li key={`${distid} ${stockid}`} class="top">
            <Badge>{distid}</Badge>
            <span class="grow">{description}</span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
