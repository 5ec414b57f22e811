/**
 * The servers of the HTTP benchmarks, each a process of its own: `ours FOLDER` serves a state
 * folder, `bare FILE` sends the prepared bytes of a JSON file {path: body} through bare node:http.
 * Prints the port.
 */
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { open } from '../../lib/app/open.js'
import { createServer } from '../../server/http/app.js'
import { listen } from '../../server/http/listen.js'

const [kind, target] = process.argv.slice(2) as [string, string]

/**
 * Limits are per minute: with a minute in six thousandths of a second they never refuse, and do all
 * their work.
 */
const HURRY = 10_000

if (kind === 'bare') {
  const bodies = new Map(
    Object.entries(JSON.parse(readFileSync(target, 'utf8')) as Record<string, string>).map(
      ([path, body]) => [path, Buffer.from(body)],
    ),
  )
  const server = createHttpServer((request, response) => {
    const body = bodies.get(request.url!)!
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
  process.on('message', () =>
    process.send!({ cpuMicros: process.cpuUsage().user + process.cpuUsage().system }),
  )
  server.listen(0, '127.0.0.1', () =>
    process.send!({ port: (server.address() as { port: number }).port }),
  )
} else {
  const start = Date.now()
  const app = await open({ dir: target, now: () => start + (Date.now() - start) * HURRY })
  await app.ctx.catalog.refresh()
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const { url } = await listen(createServer(app), { port: 0, host: '127.0.0.1' })
  process.on('message', () =>
    process.send!({
      maxDelayMs: delay.max / 1e6,
      cpuMicros: process.cpuUsage().user + process.cpuUsage().system,
    }),
  )
  process.send!({ port: Number(new URL(url).port) })
}
