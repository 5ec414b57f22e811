/**
 * What an answer promises beyond its shape: filters hold, pages are no longer than asked, money is
 * cents and never below nothing.
 */

type Query = Record<string, string | undefined>
type Row = Record<string, unknown>

const AMOUNTS =
  'unit_price|shipping_cost|total_cost|retail_price|line_total|product_subtotal|' +
  'shipping_estimate|total_estimate|map_price|msrp'
/** An amount that is negative, or has more than two decimals. */
const MONEY = new RegExp(`"(?:${AMOUNTS})":(-|\\d+\\.\\d{3})`)

/** The first promise that a success breaks; null for none. */
export function brokenPromise(
  id: string,
  query: Query,
  text: string,
  data: unknown,
): string | null {
  const money = MONEY.exec(text)
  if (money) return `money ${money[0].slice(0, 60)}`
  switch (id) {
    case 'productsSearch':
      return ofSearch(
        query,
        data as { products: Row[]; page: number; page_size: number; total: number },
      )
    case 'ordersList':
      return ofPage(query, data as { count: number; orders: Row[] })
    case 'fulfillmentHistory':
      return ofHistory(query, data as { count: number; orders: Row[]; errors: Row[] })
    case 'ordersQuote':
      return ofQuote(
        data as { fulfillable: boolean; items: { best: unknown }[]; unfulfillable: unknown[] },
      )
    default:
      return null
  }
}

const isTrue = (text: string | undefined) => text === 'true' || text === '1'

function ofSearch(
  query: Query,
  {
    products,
    page,
    page_size: size,
    total,
  }: { products: Row[]; page: number; page_size: number; total: number },
): string | null {
  if (size !== Number(query['page_size'] ?? 50) || page !== Number(query['page'] ?? 1))
    return 'another page'
  if (products.length !== Math.max(0, Math.min(size, total - (page - 1) * size)))
    return 'products and total'
  const rules: [name: string, holds: (product: Row, text: string) => boolean][] = [
    ['distributor', ({ distid }, text) => distid === text],
    ['product_class', (product, text) => product['product_class'] === text],
    ['manufacturer', (product, text) => product['mfg_name'] === text],
    ['category', (product, text) => product['item_gb_cat_name'] === text],
    ['min_price', (product, text) => Number(product['unit_price']) >= Number(text)],
    ['max_price', (product, text) => Number(product['unit_price']) <= Number(text)],
    ['in_stock', (product, text) => !isTrue(text) || Number(product['qty_on_hand']) > 0],
    ['drop_ship_only', (product, text) => !isTrue(text) || product['drop_ship_flg'] === 1],
    ['ffl_required', (product, text) => product['ffl_req'] === Number(isTrue(text))],
  ]
  const broken = rules.find(
    ([name, holds]) =>
      query[name] !== undefined && products.some((product) => !holds(product, query[name]!)),
  )
  if (broken) return broken[0]
  const sort = query['sort'] ?? 'name'
  const member = sort.endsWith('price') ? 'unit_price' : sort.endsWith('qty') ? 'qty_on_hand' : null
  const sign = sort.startsWith('-') ? -1 : 1
  if (
    member &&
    products.some(
      (product, i) =>
        i > 0 && sign * (Number(product[member]) - Number(products[i - 1]![member])) < 0,
    )
  )
    return `sort ${sort}`
  return new Set(products.map(({ distid, stockid }) => `${String(distid)} ${String(stockid)}`))
    .size === products.length
    ? null
    : 'a product twice'
}

function ofPage(query: Query, { count, orders }: { count: number; orders: Row[] }): string | null {
  const limit = Number(query['limit'] ?? 25)
  return orders.length === Math.max(0, Math.min(limit, count - Number(query['offset'] ?? 0)))
    ? null
    : 'orders and count'
}

function ofHistory(
  query: Query,
  data: { count: number; orders: Row[]; errors: Row[] },
): string | null {
  for (const name of ['order_id', 'distid', 'order_source', 'order_status', 'ship_status']) {
    const wanted = query[name]
    if (wanted !== undefined && data.orders.some((order) => order[name] !== wanted)) return name
  }
  if (
    data.orders.some(
      ({ order_date: date }) =>
        (query['from'] !== undefined && String(date) < query['from']) ||
        (query['to'] !== undefined && String(date).slice(0, 10) > query['to']),
    )
  )
    return 'dates'
  if (
    query['from'] !== undefined &&
    query['to'] !== undefined &&
    query['from'] > query['to'] &&
    (data.count > 0 || data.errors.length > 0)
  )
    return 'from after to'
  if (['0', 'false'].includes(query['include_errors'] ?? '') && data.errors.length > 0)
    return 'errors'
  return ofPage(query, data)
}

function ofQuote({
  fulfillable,
  items,
  unfulfillable,
}: {
  fulfillable: boolean
  items: { best: unknown }[]
  unfulfillable: unknown[]
}): string | null {
  const without = items.filter(({ best }) => best === null).length
  return without === unfulfillable.length && fulfillable === (without === 0)
    ? null
    : 'what cannot be had'
}
