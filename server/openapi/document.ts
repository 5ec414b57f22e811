/** The OpenAPI 3.0.3 document, from the one list of endpoints (contract "Versioning"). */
import type { Registry } from '../../lib/distributors/registry.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { configurationComponents } from './configuration.js'
import { codesOf, errorExamples, errorSchemas } from './errors.js'
import { headerComponents } from './headers.js'
import { documentationPaths, operation } from './operations.js'
import { responseComponents } from './responses.js'
import { collectSchemas } from './schemas.js'
import type { Json } from './schemas.js'
import { tags } from './tags.js'

export { codesOf } from './errors.js'

/**
 * Builds the document; the same registry and address always give the same one. `url` is the
 * server's base address; each distributor of the registry has a configuration schema of its own.
 */
export function openApiDocument(url: string, registry: Registry): Json {
  const schemas = collectSchemas()
  const codes = [...new Set([...allEndpoints.flatMap(codesOf), 'method_not_allowed' as const])]
  const paths: Record<string, Json> = {}
  for (const endpoint of allEndpoints) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operation(endpoint, schemas),
    }
  }
  const errors = errorSchemas(schemas, codes)
  return {
    openapi: '3.0.3',
    info: INFO,
    externalDocs: { description: 'The guide', url: `${url === '/' ? '' : url}/v1/docs/guide` },
    servers: [{ url, description: 'This server' }],
    tags: tags(),
    security: [{ apiKey: [] }],
    paths: { ...paths, ...documentationPaths() },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'The key that the operator issued, 40 characters of A-Z, a-z, 0-9. It is bound ' +
            'to registered addresses and authorizes real purchases: for servers only.',
        },
      },
      schemas: { ...schemas.named, ...errors, ...configurationComponents(registry) },
      responses: responseComponents(),
      headers: headerComponents(),
      examples: errorExamples(allEndpoints),
    },
  }
}

const INFO = {
  title: 'Quartermaster',
  version: '1.0.0',
  contact: { name: 'The operator of this server' },
  license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  description: [
    'Distributor commerce integration: your own restricted and priced catalog out of many ' +
      'distributors, quotes, orders and their tracking. Server-side use only: a key ' +
      'authorizes real purchases, and there is no sandbox beside the simulated distributors ' +
      'that `X-Service-Mode` tells of.',
    'Every success is 200 with `{"success": true, "data": ...}`, but for the bare schema ' +
      'of `GET /v1/config/schema`; every refusal is `{"success": false, "error": {"code", ' +
      '"message", "details"}}`. An unknown address is 404 `not_found`, a wrong method 405 ' +
      'with `Allow`, more than 100 headers 431 `too_many_headers`, and two Host headers are ' +
      'a 400. Unknown query parameters are ignored and named in `X-Ignored-Parameters`, ' +
      'unknown members of a body are refused.',
    'Money is in US dollars with at most two decimals. Times are ISO 8601 UTC, but for ' +
      '`order_date` and `failure_timestamp` (`YYYY-MM-DD HH:MM:SS` UTC) and days ' +
      '(`YYYY-MM-DD`). Flags of answers that are 1 or 0 are numbers.',
    'Requests by tier: standard 60 a minute and 10,000 a day, pro 300 and 100,000, ' +
      'enterprise 1,000 and 1,000,000. Orders: 60 an hour and 500 a day. Fraud: 1,000 ' +
      'checks, 25 reports and 25 removals in any 24 hours. The catalog export: once every 20 ' +
      'minutes. Answers above 50 KB are compressed with gzip when the caller takes it.',
  ].join('\n\n'),
}
