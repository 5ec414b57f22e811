/** Search with its facets, exactly as the shop is answered. */
import type { ShopResult } from '../../core/api.js'
import { count, money } from '../../core/format.js'
import { linkTo, place, refine } from '../../core/router.js'
import { filter, useTyped } from '../../core/use-query.js'
import { useShop } from '../../core/use-call.js'
import { Badge, Button, PageHead, Section } from '../../parts/basics.js'
import { Check, Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Pager, Table } from '../../parts/table.js'
import type { Column } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.catalog
type Product = ShopResult<'products.search'>['products'][number]

const SIZE = 50
const TEXTS = ['q', 'manufacturer', 'category', 'product_class', 'distributor', 'sort'] as const
const FLAGS = ['in_stock', 'ffl_required', 'ignore_restrictions'] as const
/** Rows that paging may reach. */
const DEEPEST = 10_000

export function CatalogSearch({ shop }: { shop: string }) {
  const { query } = place.value
  const page = Math.max(1, Number(query['page'] ?? 1) || 1)
  const reading = useShop('products.search', {
    subscriber: shop,
    query: {
      ...Object.fromEntries(TEXTS.filter((name) => query[name]).map((name) => [name, query[name]])),
      ...Object.fromEntries(FLAGS.filter((name) => query[name]).map((name) => [name, true])),
      page,
      page_size: SIZE,
    },
  })
  const total = reading.data?.total
  return (
    <>
      <PageHead title={texts.pages.catalog} question={t.question} />
      <Filters shop={shop} />
      <Section
        title={t.offersTitle}
        aside={total !== undefined && <span aria-live="polite">{t.hits(total)}</span>}
      >
        <Loaded reading={reading} lines={14}>
          {({ products, total: all }) => (
            <>
              <Table
                label={t.offersTitle}
                rows={products}
                keyOf={({ distid, stockid }) => `${distid} ${stockid}`}
                hrefOf={({ upc, distid }) => linkTo(['catalog', upc ?? '-'], { at: distid })}
                columns={COLUMNS}
                empty={<NothingFound />}
              />
              <Pager
                from={(page - 1) * SIZE}
                shown={products.length}
                total={Math.min(all, DEEPEST)}
                size={SIZE}
                onGo={(from) => refine({ page: from / SIZE + 1 })}
              />
            </>
          )}
        </Loaded>
      </Section>
    </>
  )
}

const COLUMNS: Column<Product>[] = [
  {
    head: t.item,
    isLong: true,
    cell: ({ name }) => name,
  },
  { head: t.brand, cell: ({ mfg_name: brand }) => brand ?? '–', isWide: true },
  { head: texts.words.distributor, cell: ({ distid }) => distid },
  { head: t.sku, cell: ({ distsku }) => <code>{distsku}</code>, isWide: true },
  {
    head: t.class,
    isWide: true,
    cell: ({ product_class: code, ffl_req: ffl }) => (
      <span class="row">
        {code} {ffl === 1 && <Badge tone="warn">{t.ffl}</Badge>}
      </span>
    ),
  },
  { head: t.price, cell: ({ unit_price: price }) => money(price), isNumber: true },
  { head: t.totalCost, cell: ({ total_cost: cost }) => money(cost), isNumber: true, isWide: true },
  { head: t.map, cell: ({ map_price: map }) => money(map), isNumber: true, isWide: true },
  { head: t.stock, cell: ({ qty_on_hand: qty }) => count(qty), isNumber: true },
]

function NothingFound() {
  const { query } = place.value
  const { q = '' } = query
  const isFiltered = [...TEXTS, ...FLAGS].some((name) => name !== 'sort' && query[name])
  if (!isFiltered)
    return (
      <Empty
        title={t.allHidden}
        action={
          <>
            <Button kind="primary" onClick={() => refine({ ignore_restrictions: '1' })}>
              {t.showHidden}
            </Button>
            <a class="button" href={linkTo(['feeds'])}>
              {texts.pages.feeds}
            </a>
          </>
        }
      >
        {t.allHiddenMore}
      </Empty>
    )
  return (
    <Empty
      title={t.none}
      action={
        /^\d{8,14}$/.test(q) && (
          <a class="button" href={linkTo(['catalog', q])}>
            {t.openUpc(q)}
          </a>
        )
      }
    >
      {t.noneMore}
    </Empty>
  )
}

function Filters({ shop }: { shop: string }) {
  const { query } = place.value
  const [q, setQ] = useTyped('q')
  const all = Boolean(query['ignore_restrictions'])
  const { data: facets } = useShop('products.facets', {
    subscriber: shop,
    query: all ? { ignore_restrictions: true } : {},
  })
  const { data: registry } = useShop('distributors', { subscriber: shop })
  const options = (values: readonly string[] = []) => [['', texts.words.any] as const, ...values]
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      <div class="first">
        <TextField
          label={texts.words.search}
          placeholder={t.find}
          type="search"
          value={q}
          onInput={setQ}
          isSearch
        />
      </div>
      <Select
        label={t.brand}
        value={query['manufacturer'] ?? ''}
        options={options(facets?.manufacturers)}
        onChange={filter('manufacturer')}
      />
      <Select
        label={t.category}
        value={query['category'] ?? ''}
        options={options(facets?.categories)}
        onChange={filter('category')}
      />
      <Select
        label={t.class}
        value={query['product_class'] ?? ''}
        options={options(facets?.product_classes)}
        onChange={filter('product_class')}
      />
      <Select
        label={texts.words.distributor}
        value={query['distributor'] ?? ''}
        options={[
          ['', texts.words.any],
          ...Object.entries(registry ?? {}).map(([name, { distid }]) => [distid, name] as const),
        ]}
        onChange={filter('distributor')}
      />
      <Select
        label={t.sort}
        value={query['sort'] ?? 'name'}
        options={Object.entries(t.sorts)}
        onChange={filter('sort')}
      />
      <div class="checks">
        {(
          [
            ['in_stock', t.inStock],
            ['ffl_required', t.ffl],
            ['ignore_restrictions', t.everything],
          ] as const
        ).map(([name, label]) => (
          <Check key={name} label={label} isOn={Boolean(query[name])} onChange={filter(name)} />
        ))}
      </div>
    </form>
  )
}
