/** The seven metrics, out of the build that all subscribers share. */
import type { Analytics, AnalyticsCtx, AnalyticsOptions } from './ctx.js'
import { MINUTE } from '../core/clock.js'
import { MetricAnswers, answerText } from './answers/metric-answers.js'
import { openServing } from './answers/serving.js'

const IDLE = 10 * MINUTE

export function openAnalytics(
  context: () => Pick<AnalyticsCtx, 'log' | 'engine'>,
  { idle = IDLE, ...process }: AnalyticsOptions = {},
): Analytics {
  const answers = new MetricAnswers(idle)
  const closing = new AbortController()
  const forget = () => answers.forget()
  let known: ReturnType<typeof openServing> | undefined
  const serving = () => (known ??= openServing(context().engine.dir, context().log, forget))

  return {
    answer(metric, question, distids) {
      return serving().use(async (build) => {
        if (!build) return answerText(metric, question, { asOf: null, count: 0, rows: '' })
        const sorted = distids === 'all' ? build.meta.distids : [...new Set(distids)].sort()
        return answers.answer(build, metric, question, sorted)
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
    kept: () => answers.sizes(),
    process,
    closing: closing.signal,
    stop() {
      closing.abort()
      forget()
    },
  }
}
