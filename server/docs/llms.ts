/**
 * The documentation for programs that read text: an index by the llms.txt convention, and all of it
 * in one file.
 */
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import { ERRORS } from '../../lib/core/errors.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import type { Registry } from '../../lib/distributors/registry.js'
import { byStatus } from '../openapi/errors.js'
import { operationIdOf } from '../openapi/operations.js'
import { tagOf } from '../openapi/tags.js'
import { choicesOf, memberLines, typeText } from './compact.js'
import type { Components, Marked, Schema } from './compact.js'
import { readPage } from './guide.js'
import { describedBy, resolved } from './openapi.js'
import type { Answer, OpenApi } from './openapi.js'
import { PAGES, markdownAddressOf } from './pages.js'
import { present } from '../../lib/core/present.js'

const HEAD = `# Quartermaster

> The open, self-hosted integration server of a firearm dealer's shop. Many distributors' feeds \
go in; the shop's own restricted and priced catalog, quotes, purchase orders and their tracking \
come out over one JSON API.

Addresses here are relative to the server that this file came from.

- Key: every call but those for documentation sends the header \`x-api-key\`. A key is bound to \
registered addresses and authorizes real purchases: keep it on a server, never in a browser or \
an app.
- Envelope: a success is 200 with \`{"success": true, "data": ...}\`, a refusal \`{"success": \
false, "error": {"code", "message", "details"}}\`. Decide by \`code\`. Only \`GET \
/v1/config/schema\` answers without envelope.
- Bodies are JSON of at most 1 MB; an unknown member is refused by name. Unknown query parameters are ignored.
- Money: US dollars as numbers with at most two decimals. Prices of products are the shop's \
dealer costs; a retail price must not be below \`map_price\`.
- \`distid\`, SKUs and UPCs are strings, sent back exactly as they came.
- Times are ISO 8601 UTC, but for \`order_date\` (\`YYYY-MM-DD HH:MM:SS\`, UTC) and days (\`YYYY-MM-DD\`).
- Orders: \`POST /v1/orders\` buys and cannot be taken back. \`order_id\` is the idempotency \
key: after a 5xx, a timeout or a broken connection send the same request with the same \
\`order_id\`, never with another one. A 409 \`duplicate_order\` holds the records of the first. \
After a 200 \`pending\` do not order again; poll \`GET /v1/orders/{order_id}\`.
- Mode: the header \`X-Service-Mode\` of every answer says \`simulator\` (nothing real is \
bought), \`live\` or \`mixed\`.
- Limits: 60, 300 or 1,000 requests a minute by tier; the catalog export once every 20 minutes; \
60 orders an hour. After a 429 wait as long as \`Retry-After\` says.
- There are no webhooks: poll \`GET /v1/fulfillment/history\` every 15 to 30 minutes.
- Errors, in short (see the page on errors for each code):
`

/** What a caller does, by status. */
const ADVICE: Record<number, string> = {
  400: 'correct the request before you send it again; the same request fails again',
  401: 'send a key in the header `x-api-key`',
  403: 'the key, the address it is used from, or what it asks for is not allowed; ask the operator',
  404: 'it does not exist, or you may not see it',
  405: 'use a method that the header Allow names',
  409:
    'the request is well formed, but conflicts with the present state; see details, and ' +
    'never change an order_id to get around it',
  412: 'read the document again, then save',
  413: 'send less',
  429: 'wait as long as Retry-After says',
  431: 'send fewer headers',
  500: 'try again with growing pauses; send an order with the same order_id',
  503: 'try again soon; send an order with the same order_id',
}

/** `/v1/llms.txt`: what there is, a line for each. */
export function llmsIndex(): string {
  return (
    [
      HEAD + errorsInShort(),
      '## ' +
        `Guide\n\n${PAGES.map((page) => `- [${page.title}](${markdownAddressOf(page)}): ${page.summary}`).join('\n')}`,
      `## Endpoints\n\n${allEndpoints
        .map(
          (endpoint) =>
            `- [${endpoint.method} ` +
            `${endpoint.path}](/v1/docs#/${tagOf(endpoint)}/${operationIdOf(endpoint)}): ` +
            `${endpoint.summary}`,
        )
        .join('\n')}`,
      '## Descriptions for tools\n\n- [openapi.json](/v1/openapi.json): OpenAPI 3.0.3, ' +
        'with a configuration schema for each distributor\n- [API reference](/v1/docs): ' +
        'every operation, to read and to try\n- [Guide](/v1/docs/guide): the guide as pages',
      '## Optional\n\n- [llms-full.txt](/docs/llms-full.txt): every page of the guide, and ' +
        'every endpoint with its parameters, limits and answers, in one file',
    ].join('\n\n') + '\n'
  )
}

/** `/docs/llms-full.txt`: every page and every endpoint. `folder` holds the guide's Markdown. */
export async function llmsFull(registry: Registry, folder: string): Promise<string> {
  const pages = await Promise.all(
    PAGES.map(
      async (page) =>
        `<!-- ${markdownAddressOf(page)} -->\n\n${(await readPage(folder, page)).trim()}`,
    ),
  )
  const document = describedBy(registry)
  const errors = Object.entries(ERRORS).map(
    ([code, [status, sentence]]) => `- ${status} ${code}: ${sentence}`,
  )
  return (
    [
      HEAD + errorsInShort(),
      ...pages,
      '# Endpoints\n\nEvery endpoint may also answer with the refusals of the key, of ' +
        'limits and of what is unexpected (401, 403, 429, 500, 503).',
      ...allEndpoints.map((endpoint) => endpointText(endpoint, document)),
      `# Error codes\n\n${errors.join('\n')}`,
    ].join('\n\n') + '\n'
  )
}

function errorsInShort(): string {
  return [...byStatus(Object.keys(ERRORS) as ErrorCode[])]
    .map(
      ([status, codes]) =>
        `  - ${status} ${codes.map((code) => `\`${code}\``).join(', ')}: ${ADVICE[status]}.`,
    )
    .join('\n')
}

function endpointText(endpoint: Endpoint, document: OpenApi): string {
  const {
    paths,
    components: { schemas },
  } = document
  const {
    summary,
    description,
    parameters = [],
    requestBody,
    responses,
  } = present(paths[endpoint.path]?.[endpoint.method.toLowerCase()], endpoint.id)
  const success = resolved<Answer>(present(responses['200'], endpoint.id), 'responses', document)
  const [content] = Object.values(success.content ?? {})
  const answer = present(content, `the answer of ${endpoint.id}`).schema
  const body = requestBody?.content['application/json'].schema
  const payload = endpoint.isRaw
    ? answer
    : present(answer.properties?.['data'], `the data of ${endpoint.id}`)
  const given = parameters.map(
    ({ name, in: place, required, description: about, schema }) =>
      `- ${name} (${place}): ` +
      `${typeText(schema, schemas)}${required ? ', required' : ''}${about ? `. ${about}` : ''}`,
  )
  return [
    `## ${endpoint.method} ${endpoint.path}`,
    description === `${summary}.`
      ? description
      : `${summary.replace(/(?<![.?])$/, '.')} ${description}`,
    ...(given.length > 0 ? [`Parameters:\n${given.join('\n')}`] : []),
    ...(body
      ? [
          `Body${requestBody.required ? '' : ' (may be empty)'}:\n${lines(body, schemas, 'required')}`,
        ]
      : []),
    `Answer${endpoint.isRaw ? ' (without envelope)' : ', in `data`'}:\n${lines(payload, schemas, 'optional')}`,
    ...(endpoint.errors.length > 0
      ? [
          'Refusals of its own: ' +
            `${endpoint.errors.map((code) => `${ERRORS[code][0]} ${code}`).join(', ')}`,
        ]
      : []),
  ].join('\n\n')
}

/** The members of an object, of each of several that it may be, or what else it is. */
function lines(schema: Schema, components: Components, mark: Marked): string {
  const whole = typeText(schema, components)
  const choices = choicesOf(schema, components)
    .map((choice) => memberLines(choice, components, mark))
    .filter((choice) => choice.length > 0)
  return choices.length > 0
    ? choices.map((choice) => choice.join('\n')).join('\nor\n')
    : `- ${whole}`
}
