/** Addresses that need no key (contract "Authentication" 1). */
import type { App } from '../lib/open.js'
import { baseHeaders } from './handle.js'
import type { Handler } from './handle.js'
import { openApiDocument } from './openapi.js'
import { finish } from './reply.js'

/** The address that the caller used; relative where its Host makes none. */
function originOf(request: Request): string {
  try {
    return new URL(request.url).origin
  } catch {
    return '/'
  }
}

/** The documentation routes; none is counted or limited. */
export function documentationRoutes(app: App): { path: string; handler: Handler }[] {
  const documents = new Map<string, string>()
  return [{
    path: '/v1/openapi.json',
    handler: async ({ request }) => {
      const origin = originOf(request)
      let document = documents.get(origin)
      if (document === undefined) {
        // The origin is what the caller wrote into Host: a few are kept, so that nobody can fill the memory.
        if (documents.size >= 16) documents.clear()
        documents.set(origin, document = JSON.stringify(openApiDocument(origin, app.ctx.distributors)))
      }
      const headers = { ...baseHeaders(app, request), 'cache-control': 'public, max-age=300' }
      return finish({ status: 200, headers, body: document }, request.headers.get('accept-encoding'))
    },
  }]
}
