/**
 * The server that is killed: all of Quartermaster on a state folder, over a socket, with a clock of
 * its own. It is loaded first and begins when it is told what its life is.
 */
import { createServer as createApi } from '../../server/http/app.js'
import type { Server } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'
import { openLog } from '../../server/log.js'
import { fractional } from '../../server/testing/clock.js'
import { open } from '../../lib/app/open.js'
import { timeOf } from './rig/clock.js'
import type { Life, Ready } from './rig/life.js'
import { probes } from './rig/probes.js'
import { stepsOf, watchApp } from './rig/steps.js'
import type { Pass } from './rig/steps.js'

async function live(life: Life): Promise<void> {
  const pass = stepsOf(life)
  probes.isCalm = life.calm === true
  const now = fractional(() => timeOf(life.clock))
  const app = await open({
    dir: life.dir,
    now,
    worker: false,
    log: openLog('warn'),
    actor: 'server',
    faults: { step: pass },
    ...(life.mail && { egress: { mail: life.mail } }),
  })
  if (!app.ctx.engine.lock('serve')) throw new Error('another process serves the folder')
  await watchApp(app, pass)
  await app.ctx.catalog.refresh()
  await app.ctx.dealers.current()
  const listening = await listen(watchRequests(createApi(app), pass), {
    port: 0,
    host: '127.0.0.1',
  })
  app.listensAt(listening.url)
  app.jobs.start()
  app.orders.start()
  app.monitors.start()
  process.once('SIGTERM', () => {
    void listening
      .close()
      .then(() => app.close())
      .then(() => process.disconnect())
  })
  process.send!({ ready: true, url: listening.url } satisfies Ready)
}

/** Tells of a request that was read, and of an answer that was handed to the socket. */
function watchRequests(server: Server, pass: Pass): Server {
  return {
    ...server,
    nodeHandler: ((request, response) => {
      if (request.method === 'POST') {
        pass('request read')
        response.once('finish', () => pass('answered'))
      }
      return server.nodeHandler(request, response)
    }) as Server['nodeHandler'],
  }
}

process.once('message', (life: Life) => {
  live(life).catch((error: unknown) => {
    console.error(error)
    process.exit(2)
  })
})
