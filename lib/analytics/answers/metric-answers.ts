/**
 * Answers of the metrics out of a build. Columns are read when a metric is first asked for and
 * dropped when nobody asks any more; what was combined for a set of distributors is kept for as
 * long as the build serves.
 */
import { Cache } from '../../core/cache.js'
import { MB } from '../../core/figures.js'
import { sectionName } from '../builds/files.js'
import type { ListingColumns, SectionColumns } from '../builds/columns.js'
import type { Build } from '../builds/open.js'
import type { Metric } from '../metrics/metric.js'
import { pick, rowsText } from './answer.js'
import type { Question } from './answer.js'
import { combine, list, orderOf } from './combine.js'
import type { Listed } from './combine.js'

/** Most bytes of columns, of combinations and of answers. */
const MOST = { sections: 192 * MB, combined: 64 * MB, answers: 16 * MB } as const

const sizeOf = (columns: Readonly<Record<string, { byteLength: number }>>) =>
  Object.values(columns).reduce((bytes, column) => bytes + column.byteLength, 0)

export class MetricAnswers {
  readonly #sections: Cache<SectionColumns>
  readonly #listings: Cache<ListingColumns>
  readonly #combinations: Cache<Listed>
  readonly #orders: Cache<Uint32Array>
  readonly #answers: Cache<string>

  /** `idle`: milliseconds after which what nobody asks for is dropped. */
  constructor(idle: number) {
    this.#sections = new Cache<SectionColumns>({ idle, most: MOST.sections, sizeOf })
    this.#listings = new Cache({
      idle,
      most: MOST.sections,
      sizeOf: (columns) => sizeOf({ ...columns }),
    })
    this.#combinations = new Cache({
      idle,
      most: MOST.combined,
      sizeOf: ({ items, listings: rows, values }) => sizeOf({ ...values, items, rows }),
    })
    this.#orders = new Cache({ idle, most: MOST.combined, sizeOf: (order) => order.byteLength })
    this.#answers = new Cache({ idle, most: MOST.answers, sizeOf: (text) => text.length * 2 })
  }

  /** Drops everything: another build serves. */
  forget(): void {
    this.#sections.clear()
    this.#listings.clear()
    this.#combinations.clear()
    this.#orders.clear()
    this.#answers.clear()
  }

  sizes(): { sections: number; combined: number; answers: number } {
    return {
      sections: this.#sections.size,
      combined: this.#combinations.size,
      answers: this.#answers.size,
    }
  }

  /** The answer of a metric for these distributors, as JSON; `distids` are sorted. */
  answer(
    build: Build,
    metric: Metric,
    question: Question,
    distids: readonly string[],
  ): Promise<string> {
    return this.#answers.get(JSON.stringify([build.id, metric.slug, question, distids]), () =>
      this.#make(build, metric, question, distids),
    )
  }

  async #make(
    build: Build,
    metric: Metric,
    question: Question,
    distids: readonly string[],
  ): Promise<string> {
    const { combined, order } = await this.#results(build, metric, question, distids)
    const columns = await this.#listingsOf(build)
    const places = pick(metric, { ...combined, order }, columns, question)
    return answerText(metric, question, {
      asOf: new Date(build.meta.at).toISOString(),
      count: places.length,
      rows: await rowsText(build, metric, { ...combined, columns }, places),
    })
  }

  /**
   * The best results for a set of distributors, in their order; each step is kept for whoever asks
   * something similar.
   */
  async #results(
    build: Build,
    metric: Metric,
    { window, sortBy }: Question,
    distids: readonly string[],
  ): Promise<{ combined: Listed; order: Uint32Array }> {
    const days = metric.hasWindow ? window : 0
    const section = `${build.id} ${sectionName(metric.slug, days)}`
    const set = `${section} ${JSON.stringify(distids)}`
    const combined = await this.#combinations.get(set, async () => {
      const places = distids.map((distid) => build.meta.distids.indexOf(distid))
      const active = new Set(places.filter((place) => place >= 0))
      const columns = await this.#sections.get(section, () => build.section(metric, days))
      return list(await combine(metric, columns, active), await this.#listingsOf(build), active)
    })
    const by = metric.orders?.[sortBy ?? ''] ?? metric.order
    const order = await this.#orders.get(`${set} ${by.join()}`, () => orderOf(combined, by))
    return { combined, order }
  }

  #listingsOf(build: Build): Promise<ListingColumns> {
    return this.#listings.get(build.id, () => build.listings())
  }
}

/** The answer as it is sent; `rows` is JSON, without the brackets. */
export function answerText(
  metric: Metric,
  { window }: Question,
  { asOf, count, rows }: { asOf: string | null; count: number; rows: string },
): string {
  const days = metric.hasWindow ? window : null
  return (
    `{"metric":"${metric.slug}","as_of":${JSON.stringify(asOf)},"window_days":${days},` +
    `"count":${count},"results":[${rows}]}`
  )
}
