/**
 * One answer of a metric as JSON: the best results that fit what is asked for, with their texts.
 */
import { CLASS_CODES } from '../../distributors/product-classes.js'
import { dollarsText } from '../../core/money.js'
import type { ListingColumns } from '../builds/columns.js'
import type { Listed } from './combine.js'
import type { Form, Metric, Window } from '../metrics/metric.js'
import type { Build } from '../builds/open.js'

export interface Question {
  window: Window
  limit: number
  /** Codes, one of which a result must have; null for any. */
  productClasses: readonly string[] | null
  categories: readonly number[] | null
  /** One of the metric's orders; another metric's is ignored. */
  sortBy: string | undefined
  /** Least values by parameter, as they are shown; those of other metrics are ignored. */
  least: Readonly<Record<string, number | undefined>>
}

/** What a measure is divided by before it is shown. */
const SCALES: Partial<Record<Form, number>> = { money: 100, tenths: 10, hundredths: 100 }

/** Places of the results that fit, at most `limit`, in the given order. */
export function pick(
  metric: Metric,
  { values, listings, order }: Listed & { order: Uint32Array },
  { productClass, category }: ListingColumns,
  question: Question,
): number[] {
  const { limit, productClasses, categories } = question
  const classes =
    productClasses && new Set(productClasses.map((code) => (CLASS_CODES as string[]).indexOf(code)))
  const wanted = categories && new Set(categories)
  const least = Object.entries(metric.least ?? {}).flatMap(([parameter, measure]) => {
    const value = question.least[parameter]
    return value === undefined
      ? []
      : [{ column: values[measure]!, value, scale: SCALES[metric.measures[measure]!] ?? 1 }]
  })
  const found: number[] = []
  for (let i = 0; i < order.length && found.length < limit; i++) {
    const place = order[i]!
    const listing = listings[place]!
    if (classes && !classes.has(productClass[listing]!)) continue
    if (wanted && !wanted.has(category[listing]!)) continue
    // Divided as it is shown: 0.57 is 57 hundredths, whatever 0.57 × 100 is.
    if (least.every(({ column, value, scale }) => column[place]! / scale >= value))
      found.push(place)
  }
  return found
}

/** The rows in JSON. */
export async function rowsText(
  build: Build,
  metric: Metric,
  { values, listings, columns }: Listed & { columns: ListingColumns },
  places: readonly number[],
): Promise<string> {
  const texts = await build.texts(
    columns,
    places.map((place) => listings[place]!),
  )
  const measures = Object.entries(metric.measures)
  return places
    .map((place, i) => {
      const shown = measures.map(
        ([name, form]) => `"${name}":${shownText(values[name]![place]!, form, build.meta.distids)}`,
      )
      return `{${texts[i]},${shown.join(',')}}`
    })
    .join(',')
}

function shownText(value: number, form: Form, distids: readonly string[]): string {
  if (Number.isNaN(value)) return 'null'
  switch (form) {
    case 'money':
      return dollarsText(value)
    case 'time':
      return `"${new Date(value).toISOString()}"`
    case 'flag':
      return value === 1 ? 'true' : 'false'
    case 'distid':
      return JSON.stringify(distids[value])
    default:
      return String(value / (SCALES[form] ?? 1))
  }
}
