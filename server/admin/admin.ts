/**
 * What an operator's own programs ask a server: is it alive, is it ready, what does it do. It needs
 * no key, and so it has a listener of its own that is never the API's.
 */
import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { App } from '../../lib/app/open.js'
import { healthPages } from './health.js'
import { isOurHost } from './host.js'
import type { Page, Pages } from './page.js'
import { metricsPages } from './metrics/metrics.js'
import type { ServerMetrics } from './metrics/metrics.js'

export interface AdminOptions {
  /** What /metrics tells; there is none without. */
  metrics?: ServerMetrics
  /** Aborted once the server stops: it is not ready from then on. */
  stopping?: AbortSignal
  /** Names in Host, beside those of this machine, by which it may be asked. */
  hosts?: readonly string[]
}

function pagesOf(app: App, { stopping, metrics }: AdminOptions): Pages {
  return { ...healthPages(app, stopping), ...(metrics && metricsPages(app, metrics)) }
}

/** Makes the listener; `listen` puts it on a port. */
export function createAdmin(app: App, options: AdminOptions = {}): RequestListener {
  const pages = new Map(Object.entries(pagesOf(app, options)))
  const declared = new Set(options.hosts?.map((host) => host.toLowerCase()))
  return (request, response) => {
    answer(request, declared, pages).then(
      (page) => send(request, response, page),
      (error: unknown) => {
        app.ctx.log.error({ err: error }, 'the admin listener could not answer')
        send(request, response, refusal(500, 'this could not be answered; see the log'))
      },
    )
  }
}

interface Answer extends Page {
  allow?: string
}

async function answer(
  request: IncomingMessage,
  declared: ReadonlySet<string>,
  pages: ReadonlyMap<string, Pages[string]>,
): Promise<Answer> {
  if (!isOurHost(request, declared))
    return refusal(403, 'this name in Host is not one of this listener; add it with --admin-host')
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  const page = pages.get(path)
  if (!page) return refusal(404, `there is nothing here; try ${[...pages.keys()].join(', ')}`)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return { ...refusal(405, 'it is read with GET or HEAD'), allow: 'GET, HEAD' }
  return page(request)
}

const refusal = (status: number, error: string): Answer => ({
  status,
  body: `${JSON.stringify({ error })}\n`,
})

function send(request: IncomingMessage, response: ServerResponse, answered: Answer): void {
  const { status = 200, type = 'application/json; charset=utf-8', body, allow } = answered
  response.writeHead(status, STATUS_CODES[status] ?? '', {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    ...(allow !== undefined && { allow }),
    // What was sent along is not read, so that nothing else may follow it.
    ...(status >= 400 &&
      request.method !== 'GET' &&
      request.method !== 'HEAD' && { connection: 'close' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
