/**
 * A process that has the library open on a state folder, beside a server or alone: no server of its
 * own, and no schedule.
 */
import { isApiError } from '../../lib/core/errors.js'
import { isUnavailable } from '../../lib/db/sqlite/sqlite.js'
import type { App } from '../../lib/app/open.js'
import { open } from '../../lib/app/open.js'
import { openLog } from '../../server/log.js'
import { fractional } from '../../server/testing/clock.js'
import { timeOf } from './rig/clock.js'
import type { AnswerBody, HttpAnswer } from './rig/http.js'
import type { Call, Life, Ready, Reply } from './rig/life.js'
import { probes } from './rig/probes.js'
import { stepsOf, watchApp } from './rig/steps.js'

async function live(life: Life): Promise<void> {
  const pass = stepsOf(life)
  probes.isCalm = life.calm === true
  const app = await open({
    dir: life.dir,
    now: fractional(() => timeOf(life.clock)),
    worker: false,
    log: openLog('warn'),
    faults: { step: pass },
  })
  await watchApp(app, pass)
  process.on('message', ({ id, ...call }: Partial<Call>) => {
    if (id === undefined || !call.caller) return
    const { caller, place, look } = call
    void answer(app, { caller, place, look }).then((given) => {
      if (process.connected) process.send!({ id, answer: given } satisfies Reply)
    })
  })
  process.once('SIGTERM', () => {
    void app.close().then(() => process.disconnect())
  })
  process.send!({ ready: true } satisfies Ready)
}

/** What a server would have answered. */
async function answer(
  app: App,
  {
    caller: { shop, key },
    place,
    look,
  }: Pick<Call, 'caller'> & Partial<Pick<Call, 'place' | 'look'>>,
): Promise<HttpAnswer> {
  const { orders } = app.as(key === null ? shop : { key })
  try {
    const data = place ? await orders.place(place) : await orders.get({ order_id: look! })
    return {
      status: 200,
      retryAfter: null,
      body: { success: true, data: data as unknown as AnswerBody['data'] },
    }
  } catch (error) {
    if (isApiError(error)) {
      const { status, code, message, details, headers } = error
      return {
        status,
        retryAfter: headers['retry-after'] === undefined ? null : Number(headers['retry-after']),
        body: { success: false, error: { code, message, details } },
      }
    }
    app.ctx.log.error({ err: error }, 'a call failed')
    return {
      status: isUnavailable(error) ? 503 : 500,
      retryAfter: 1,
      body: {
        success: false,
        error: {
          code: isUnavailable(error) ? 'service_unavailable' : 'internal_error',
          message: String(error),
        },
      },
    }
  }
}

process.once('message', (life: Life) => {
  live(life).catch((error: unknown) => {
    console.error(error)
    process.exit(2)
  })
})
