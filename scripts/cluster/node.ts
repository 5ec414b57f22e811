/** A node of the proof: a server as `serve` has it, with warehouses for distributors. */
import { open } from '../../lib/app/open.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { s3Store } from '../../lib/objects/s3.js'
import type { S3Options } from '../../lib/objects/s3-calls.js'
import { createStartingServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { openStarting } from '../../server/http/starting.js'
import { openLog } from '../../server/log.js'
import { startUp } from '../../server/start-up.js'
import { fractional } from '../../server/testing/clock.js'
import { ACME } from '../../test/feeds/bench.js'
import { warehousesAt } from './warehouse.js'

export interface NodeLife {
  dir: string
  database: string
  secretKey: string
  objects: Omit<S3Options, 'now'>
  warehouse: string
}

async function live(life: NodeLife): Promise<void> {
  const app = await open({
    dir: life.dir,
    database: life.database,
    secretKey: life.secretKey,
    objects: s3Store({ ...life.objects, now: Date.now }),
    distributors: [...builtin, ...warehousesAt(life.warehouse)],
    worker: false,
    log: openLog('warn'),
    actor: 'server',
    now: fractional(Date.now),
    monotonic: fractional(() => performance.now()),
  })
  const starting = openStarting()
  const stopping = new AbortController()
  const listening = await listen(createStartingServer(app, starting), {
    port: 0,
    host: '127.0.0.1',
  })
  app.listensAt(listening.url)
  process.send!({ url: listening.url })
  const end = () => {
    stopping.abort()
    void listening
      .close()
      .then(() => app.close())
      .then(() => process.disconnect())
  }
  process.on('message', (order: 'pull' | 'end') => {
    if (order === 'end') return end()
    // Who does not lead refuses; what fails is pulled again.
    app.operator.feeds
      .pull({ distid: ACME.distid })
      .then(([result]) => process.send?.({ outcome: result?.outcome }))
      .catch(() => {})
  })
  await startUp(app, starting, stopping.signal)
  process.send?.({ isReady: true })
}

// Nobody is left to be proven to.
process.once('disconnect', () => process.exit())
process.once('message', (life: NodeLife) => {
  live(life).catch((error: unknown) => {
    console.error(error)
    process.exit(2)
  })
})
