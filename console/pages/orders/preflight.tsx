/** An order that is only tried: what would go where, or the refusal. Nothing is sent. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { CallError, call, callShop } from '../../core/call.js'
import { money } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { Badge, Button, Facts, PageHead, Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { TextArea } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Empty } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.orders
type Tried = Output<'orders.preflight'>

export function PreflightPage() {
  const { shop } = useShops()
  const [body, setBody] = useState('')
  const [tried, setTried] = useState<Tried | null>(null)
  return (
    <>
      <PageHead
        title={t.preflight}
        question={t.preflightQuestion}
        back={{ href: linkTo(['orders']), label: texts.pages.orders }}
      />
      {shop ? (
        <div class="columns">
          <Section
            title={t.body}
            aside={
              <Button onClick={() => act(async () => setBody(await exampleFor(shop)))}>
                {t.exampleOrder}
              </Button>
            }
          >
            <div class="body">
              <ActForm
                act={t.tryIt}
                isReady={body.trim() !== ''}
                doIt={async () => {
                  setTried(null)
                  setTried(
                    await call('orders.preflight', {
                      subscriber: shop,
                      order: parsed(body),
                      wire: true,
                    }),
                  )
                }}
              >
                <TextArea label={t.body} isPlain isCode rows={24} value={body} onInput={setBody} />
              </ActForm>
            </div>
          </Section>
          {tried && <TriedOrder tried={tried} />}
        </div>
      ) : (
        <Empty title={t.noShop}>{t.noShopMore}</Empty>
      )}
    </>
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CallError('invalid_json', 0, t.isJson)
  }
}

/** An order of the cheapest thing in stock that ships to a customer. */
async function exampleFor(subscriber: string): Promise<string> {
  const { products } = await callShop('products.search', {
    subscriber,
    query: {
      in_stock: true,
      ffl_required: false,
      drop_ship_only: true,
      page_size: 1,
      sort: 'price',
    },
  })
  const items = products.map(({ distid, distsku, upc }) => ({ distid, distsku, upc, qty: 1 }))
  const customer = {
    name: 'Pat Doe',
    email: 'pat@customer.example',
    address1: '12 Main St',
    city: 'Phoenix',
    state: 'AZ',
    zip: '85001',
  }
  return JSON.stringify({ order_id: 'TRY-1', items, customer }, null, 2)
}

function TriedOrder({ tried }: { tried: Tried }) {
  return (
    <div class="stack" aria-live="polite">
      <div class={tried.refusal ? 'fault' : 'notice calm'}>
        <Icon name={tried.refusal ? 'bad' : 'good'} />
        <div>
          <p class="strong">{tried.refusal ? t.refusedWith(tried.refusal.code) : t.goes}</p>
          {tried.refusal && <p>{tried.refusal.message}</p>}
          {tried.refusal && Array.isArray(tried.refusal.details) && (
            <ul>
              {(tried.refusal.details as { path?: string; message?: string }[]).map((one) => (
                <li key={`${one.path} ${one.message}`}>
                  <code>{one.path}</code> {one.message}
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
      {tried.warnings.length > 0 && (
        <Section title={t.warnings}>
          <ul class="list">
            {tried.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Section>
      )}
      {tried.fulfillment_orders.map((group) => (
        <Group key={group.po_number} group={group} />
      ))}
      {tried.fulfillment_orders.length > 0 && (
        <Section title={t.total}>
          <Facts
            facts={[
              [t.subtotal, money(tried.product_subtotal)],
              [t.shipping, money(tried.shipping_estimate)],
              [t.total, <span class="strong">{money(tried.total_estimate)}</span>],
              ...(tried.quota
                ? [['', t.quota(tried.quota.hour, tried.quota.day)] as [string, string]]
                : []),
            ]}
          />
        </Section>
      )}
    </div>
  )
}

function Group({ group }: { group: Tried['fulfillment_orders'][number] }) {
  const { ship_to: to } = group
  const wires = group.purchase_orders.flatMap(({ wire }) => wire ?? [])
  return (
    <Section
      title={group.distributor}
      id={group.po_number}
      aside={group.ffl_required && <Badge tone="warn">{t.ffl}</Badge>}
    >
      <Facts
        facts={[
          [t.po, <code>{group.po_number}</code>],
          [t.shipTo, `${to.name}, ${to.address1}, ${to.city}, ${to.state} ${to.zip}`],
          ...(group.ffl
            ? [[t.ffl, `${group.ffl.name} · ${group.ffl.license_number}`] as [string, string]]
            : []),
        ]}
      />
      <Table
        label={t.items}
        rows={group.lines}
        keyOf={({ distsku }) => distsku}
        columns={[
          { head: t.sku, cell: ({ distsku }) => distsku },
          { head: texts.catalog.item, cell: ({ name }) => name, isLong: true },
          { head: t.qty, cell: ({ qty }) => qty, isNumber: true },
          { head: t.price, cell: ({ unit_price: price }) => money(price), isNumber: true },
          { head: t.lineTotal, cell: ({ line_total: total }) => money(total), isNumber: true },
        ]}
      />
      {wires.length > 0 && (
        <details class="fold">
          <summary>{t.wirePreview}</summary>
          <div class="body stack">
            {wires.map(({ what, body }) => (
              <div class="stack tight" key={what + body}>
                <code>{what}</code>
                {body && <pre tabIndex={0}>{body}</pre>}
              </div>
            ))}
          </div>
        </details>
      )}
    </Section>
  )
}
