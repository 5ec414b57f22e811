/** Analytics: the seven metrics, each as a chart of its first rows and as a table to take along. */
import type { ShopResult } from '../../core/api.js'
import { count, money, percent, words } from '../../core/format.js'
import { linkTo, place } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { filter } from '../../core/use-query.js'
import { useShop } from '../../core/use-call.js'
import { Badge, Button, PageHead, Section, Tabs, When } from '../../parts/basics.js'
import { Bars } from '../../parts/bars.js'
import { Select } from '../../parts/fields.js'
import { Empty, Loaded, Waiting } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import type { Column } from '../../parts/table.js'
import { saveCsv } from '../../core/csv.js'
import { texts } from '../../texts.js'
import { CLASSES } from '../restrictions/classes.js'

const t = texts.analytics
type Answer = ShopResult<'analytics'>
type Row = Readonly<Record<string, unknown>> & { upc: string; name: string }
type Metric = keyof typeof t.metrics

/** What each metric's bars show. */
const MEASURES: Readonly<Record<Metric, string>> = {
  'top-products': 'sales_proxy',
  'on-sale': 'drop_percent',
  'margin-opportunities': 'gross_profit',
  trending: 'units_7d',
  'new-arrivals': 'qty_on_hand',
  'newly-available': 'qty_on_hand',
  'price-gaps': 'gap_percent',
}
const WITHOUT_WINDOW = new Set<Metric>(['margin-opportunities', 'trending', 'price-gaps'])
const BARS = 12

export function Analytics() {
  const [, given = 'top-products'] = place.value.path
  const metric = (Object.keys(t.metrics) as Metric[]).find((one) => one === given) ?? 'top-products'
  const { shop } = useShops()
  return (
    <>
      <PageHead title={texts.pages.analytics} question={t.question} />
      <Tabs
        label={texts.pages.analytics}
        tabs={(Object.keys(t.metrics) as Metric[]).map((one) => ({
          href: linkTo(['analytics', one]),
          label: t.metrics[one],
          isCurrent: one === metric,
        }))}
      />
      {shop ? (
        <OneMetric shop={shop} metric={metric} />
      ) : shop === null ? (
        <Empty title={texts.orders.noShop}>{t.noShop}</Empty>
      ) : (
        <Waiting lines={10} />
      )}
    </>
  )
}

function OneMetric({ shop, metric }: { shop: string; metric: Metric }) {
  const { query } = place.value
  const window = query['window'] ?? '7d'
  const productClass = query['product_class'] ?? ''
  const reading = useShop('analytics', {
    subscriber: shop,
    params: { metric },
    query: { window, limit: 200, ...(productClass && { product_class: productClass }) },
  })
  return (
    <>
      <div class="filters">
        {!WITHOUT_WINDOW.has(metric) && (
          <Select
            label={t.window}
            value={window}
            options={Object.entries(t.windows)}
            onChange={filter('window')}
          />
        )}
        <Select
          label={texts.catalog.class}
          value={productClass}
          options={[['', texts.words.any], ...CLASSES]}
          onChange={filter('product_class')}
        />
      </div>
      <Loaded reading={reading} lines={14}>
        {(answer) => <Rows metric={metric} answer={answer} />}
      </Loaded>
    </>
  )
}

function Rows({ metric, answer }: { metric: Metric; answer: Answer }) {
  const rows = answer.results as unknown as readonly Row[]
  const measure = MEASURES[metric]
  if (rows.length === 0)
    return <Empty title={t.none}>{answer.as_of === null ? t.notBuilt : t.noneMore}</Empty>
  const names = Object.keys(rows[0]!).filter((name) => !HIDDEN.has(name))
  return (
    <>
      <Section title={t.firstRows(words(measure))} id="bars">
        <Bars
          label={t.firstRows(words(measure))}
          bars={rows.slice(0, BARS).map((row) => ({
            name: row.name,
            value: Number(row[measure] ?? 0),
            shown: shown(measure, row[measure]),
            href: linkTo(['catalog', row.upc]),
          }))}
        />
      </Section>
      <Section
        title={t.metrics[metric]}
        note={t.means[metric]}
        aside={
          <>
            <span>
              {t.asOf} <When at={answer.as_of} />
            </span>
            <Button onClick={() => saveCsv(`${metric}.csv`, ['upc', 'name', ...names], rows)}>
              {texts.words.exportCsv}
            </Button>
          </>
        }
      >
        <Table
          label={t.metrics[metric]}
          rows={rows}
          keyOf={(row) => `${row.upc} ${String(row['distid'] ?? '')}`}
          hrefOf={({ upc }) => linkTo(['catalog', upc])}
          columns={[
            { head: texts.catalog.item, cell: ({ name }) => name, isLong: true },
            ...names.map((name): Column<Row> => ({
              head: words(name),
              cell: (row) => shown(name, row[name]),
              isNumber: typeof rows[0]![name] === 'number',
              isWide: WIDE.has(name),
            })),
          ]}
        />
      </Section>
    </>
  )
}

const HIDDEN = new Set(['upc', 'name', 'category_id'])
const WIDE = new Set(['mfg_name', 'category_name', 'restocks', 'confidence', 'msrp'])

function shown(name: string, value: unknown) {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'boolean')
    return value ? <Badge tone="accent">{texts.words.yes}</Badge> : texts.words.no
  if (typeof value === 'number')
    return /percent|pct/.test(name)
      ? percent(value / 100)
      : /price|cost|msrp|profit|average/.test(name)
        ? money(value)
        : count(value)
  return /since|seen|back_in/.test(name) ? <When at={String(value)} /> : String(value)
}
