/**
 * Answers of the seven metrics, out of the build that all subscribers share. Columns are read when
 * a metric is first asked for and dropped when nobody asks any more; what was combined for a set of
 * distributors is kept for as long as the build serves.
 */
import type { Analytics, AnalyticsCtx, AnalyticsOptions } from './ctx.js'
import { MINUTE } from '../core/clock.js'
import { pick, rowsText } from './answers/answer.js'
import type { Question } from './answers/answer.js'
import { sectionName } from './builds/files.js'
import { combine, list, orderOf } from './answers/combine.js'
import type { Listed } from './answers/combine.js'
import type { ListingColumns, SectionColumns } from './builds/columns.js'
import { Kept } from './answers/kept.js'
import type { Metric } from './metrics/metric.js'
import type { Build } from './builds/open.js'
import { openServing } from './answers/serving.js'

const IDLE = 10 * MINUTE
const MB = 1_048_576
/** Most bytes of columns, of combinations and of answers. */
const MOST = { sections: 192 * MB, combined: 64 * MB, answers: 16 * MB } as const

export function openAnalytics(
  context: () => Pick<AnalyticsCtx, 'log' | 'engine'>,
  { idle = IDLE, ...process }: AnalyticsOptions = {},
): Analytics {
  const sizeOf = (columns: Readonly<Record<string, { byteLength: number }>>) =>
    Object.values(columns).reduce((bytes, column) => bytes + column.byteLength, 0)
  const sections = new Kept<SectionColumns>({ idle, most: MOST.sections, sizeOf })
  const listings = new Kept<ListingColumns>({
    idle,
    most: MOST.sections,
    sizeOf: (columns) => sizeOf({ ...columns }),
  })
  const combinations = new Kept<Listed>({
    idle,
    most: MOST.combined,
    sizeOf: ({ items, listings: rows, values }) => sizeOf({ ...values, items, rows }),
  })
  const orders = new Kept<Uint32Array>({
    idle,
    most: MOST.combined,
    sizeOf: (order) => order.byteLength,
  })
  const answers = new Kept<string>({ idle, most: MOST.answers, sizeOf: (text) => text.length * 2 })
  const closing = new AbortController()
  const forget = () =>
    [sections, listings, combinations, orders, answers].forEach((kept) => kept.clear())
  let known: ReturnType<typeof openServing> | undefined
  const serving = () => (known ??= openServing(context().engine.dir, context().log, forget))

  const listingsOf = (build: Build) => listings.get(build.id, () => build.listings())

  /**
   * The best results for a set of distributors, in their order; each step is kept for whoever asks
   * something similar.
   */
  async function results(
    build: Build,
    metric: Metric,
    { window, sortBy }: Question,
    distids: readonly string[],
  ): Promise<{ combined: Listed; order: Uint32Array }> {
    const days = metric.hasWindow ? window : 0
    const section = `${build.id} ${sectionName(metric.slug, days)}`
    const set = `${section} ${JSON.stringify(distids)}`
    const combined = await combinations.get(set, async () => {
      const active = new Set(
        distids.map((distid) => build.meta.distids.indexOf(distid)).filter((place) => place >= 0),
      )
      return list(
        await combine(
          metric,
          await sections.get(section, () => build.section(metric, days)),
          active,
        ),
        await listingsOf(build),
        active,
      )
    })
    const by = metric.orders?.[sortBy ?? ''] ?? metric.order
    return { combined, order: await orders.get(`${set} ${by.join()}`, () => orderOf(combined, by)) }
  }

  async function payload(
    build: Build | null,
    metric: Metric,
    question: Question,
    distids: readonly string[],
  ): Promise<string> {
    const days = metric.hasWindow ? question.window : null
    const head = (asOf: string | null, count: number) =>
      `{"metric":"${metric.slug}","as_of":${JSON.stringify(asOf)},"window_days":${days},"count":${count},"results":[`
    if (!build) return `${head(null, 0)}]}`
    const { combined, order } = await results(build, metric, question, distids)
    const columns = await listingsOf(build)
    const places = pick(metric, combined, order, columns, question)
    return `${head(new Date(build.meta.at).toISOString(), places.length)}${await rowsText(build, metric, combined, columns, places)}]}`
  }

  return {
    answer(metric, question, distids) {
      return serving().use((build) => {
        if (!build) return payload(null, metric, question, [])
        const sorted = distids === 'all' ? build.meta.distids : [...new Set(distids)].sort()
        return answers.get(JSON.stringify([build.id, metric.slug, question, sorted]), () =>
          payload(build, metric, question, sorted),
        )
      })
    },
    status() {
      const build = serving().current()
      return (
        build && {
          build: build.name,
          at: build.meta.at,
          items: build.meta.items,
          fed: build.meta.fed,
          isSecondChoice: serving().isSecondChoice(),
        }
      )
    },
    kept: () => ({ sections: sections.size, combined: combinations.size, answers: answers.size }),
    process,
    closing: closing.signal,
    stop() {
      closing.abort()
      forget()
    },
  }
}
