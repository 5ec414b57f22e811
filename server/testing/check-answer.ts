/**
 * Holds answers against the document that the server publishes: the status, the code, the headers
 * and the body's schema. For tests; a schema is compiled when the first answer of its kind comes,
 * and kept.
 */
import { gunzipSync } from 'node:zlib'
import draft04 from 'ajv-draft-04'
import type { ValidateFunction } from 'ajv-draft-04'
import type { Endpoint } from '../../lib/core/endpoint/endpoint.js'
import type { ErrorCode } from '../../lib/core/errors.js'
import { builtin, presets } from '../../lib/distributors/builtin/index.js'
import { makeRegistry } from '../../lib/distributors/registry.js'
import type { Registry } from '../../lib/distributors/registry.js'
import type { App } from '../../lib/app/open.js'
import { pathPattern } from '../../lib/core/endpoint/routes.js'
import { openApiDocument } from '../openapi/document.js'
import { codesOf, errorName } from '../openapi/errors.js'
import type { Json } from '../openapi/schemas.js'
import { present } from '../../lib/core/present.js'

type Body = { success?: boolean; error?: { code: string } }

/** Throws where an answer is not what the document says. */
export async function checkAnswer(
  app: Pick<App, 'ctx'>,
  request: Request,
  response: Response,
): Promise<void> {
  const { pathname } = new URL(request.url)
  const document = documentOf(app.ctx.distributors, pathname)
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase()
  const candidates = document.find(pathname)
  const operations = candidates.find((known) => method in known) ?? candidates[0]
  if (!operations) return
  const operation = present(operations[method] ?? Object.values(operations)[0], pathname)
  const call = `${request.method} ${pathname}`
  const responses = operation['responses'] as Record<string, Json>
  const expected = document.at(responses[response.status])
  if (!expected)
    throw new Error(`${call} answered ${response.status}, which the document does not have`)
  if (method in operations || response.status === 405)
    checkHeaders(document, call, response, expected['headers'] as Json)
  if (request.method === 'HEAD' || response.status === 304) return
  const [[type, media]] = Object.entries(expected['content'] as Record<string, Json>) as [
    [string, Json],
  ]
  if (!response.headers.get('content-type')?.startsWith(type))
    throw new Error(`${call} answered ${response.headers.get('content-type')} in place of ${type}`)
  if (type !== 'application/json') return
  const body = await jsonOf(response)
  const code = response.ok ? null : present(body.error, `the error of ${call}`).code
  if (code !== null && !(code in (media['examples'] as Json)))
    throw new Error(`${call} answered ${response.status} ${code}, which the document does not have`)
  // A refusal's own schema says more of what is wrong with it than the choice of all codes would.
  document.check(
    call,
    code === null ? (media['schema'] as Json) : document.schemaOf(code as ErrorCode),
    body,
  )
}

/** As `checkAnswer`, for what the library returns. */
export function checkPayload(
  { ctx }: Pick<App, 'ctx'>,
  endpoint: Endpoint,
  payload: unknown,
): void {
  const document = documentOf(ctx.distributors, endpoint.path)
  const { schema } = (
    document.at(document.operation(endpoint)['responses'] as Json)[200] as {
      content: Record<string, Json>
    }
  ).content['application/json'] as { schema: Json }
  document.check(endpoint.id, schema, endpoint.isRaw ? payload : { success: true, data: payload })
}

/**
 * Throws on a code that the endpoint's definition does not list. The library can be called with
 * what no request can say.
 */
export function checkCode(endpoint: Endpoint, code: string): void {
  if (code !== 'invalid_parameter' && !codesOf(endpoint).some((known) => known === code))
    throw new Error(`${endpoint.id} answered ${code}, which its definition does not list`)
}

async function jsonOf(response: Response): Promise<Body> {
  const bytes = Buffer.from(await response.arrayBuffer())
  return JSON.parse(
    (response.headers.get('content-encoding') === 'gzip' ? gunzipSync(bytes) : bytes).toString(),
  ) as Body
}

/** Headers that the transport brings. */
const PLAIN = new Set(['content-type', 'content-length', 'content-encoding', 'vary', 'connection'])

function checkHeaders(document: Document, call: string, response: Response, headers: Json): void {
  const known = Object.entries(headers).map(
    ([name, header]) =>
      [name.toLowerCase(), document.at(header) as { required?: boolean; schema: Json }] as const,
  )
  for (const [name, { required, schema }] of known) {
    const text = response.headers.get(name)
    if (text === null && required)
      throw new Error(`${call} answered ${response.status} without ${name}`)
    if (text !== null)
      document.check(`${call}, ${name}`, schema, schema['type'] === 'integer' ? Number(text) : text)
  }
  const unknown = [...response.headers.keys()].find(
    (name) => !PLAIN.has(name) && !known.some(([header]) => header === name),
  )
  if (unknown !== undefined && !DOCUMENTATION.test(unknown))
    throw new Error(
      `${call} answered ${response.status} with ${unknown}, which the document does not have`,
    )
}

/** What a page tells a browser of its safety. */
const DOCUMENTATION = new RegExp(
  '^(content-security-policy|x-content-type-options|x-frame-options|referrer-policy|' +
    'cross-origin-.*|permissions-policy|link)$',
)

interface Document {
  /**
   * The operations at an address, by method; those of a fixed path go before those of one with
   * parameters.
   */
  find(pathname: string): Record<string, Json>[]
  operation(endpoint: Endpoint): Json
  schemaOf(code: ErrorCode): Json
  /** What a reference refers to. */
  at(value: unknown): Json
  check(what: string, schema: Json, value: unknown): void
}

let shared: Document | undefined
const own = new WeakMap<Registry, Document>()

/** One document serves all apps: other distributors change the configuration's schema alone. */
function documentOf(registry: Registry, pathname: string): Document {
  const isBuiltin =
    registry.all.length === builtin.length &&
    registry.all.every(({ settings }, i) => builtin[i]?.settings === settings)
  if (isBuiltin || !pathname.startsWith('/v1/config'))
    return (shared ??= makeDocument(makeRegistry(builtin, presets)))
  let document = own.get(registry)
  if (!document) own.set(registry, (document = makeDocument(registry)))
  return document
}

function makeDocument(registry: Registry): Document {
  const document = openApiDocument('http://shop.test', registry) as {
    paths: Record<string, Record<string, Json>>
    components: Json
  }
  const patterns = Object.keys(document.paths).map((path) => ({ path, pattern: pathPattern(path) }))
  const compile = compiler(document.components)
  const at = (value: unknown): Json => {
    const ref = (value as Json | undefined)?.['$ref']
    if (typeof ref !== 'string') return value as Json
    return ref
      .slice(2)
      .split('/')
      .reduce<unknown>((node, name) => (node as Json)[name], document) as Json
  }
  return {
    find: (pathname) =>
      patterns
        .filter(({ pattern }) => pattern.test(pathname))
        .map(({ path }) => path)
        .sort((a, b) => Number(b === pathname) - Number(a === pathname))
        .map((path) => present(document.paths[path], path)),
    operation: ({ path, method, id }) => present(document.paths[path]?.[method.toLowerCase()], id),
    at,
    schemaOf: (code) =>
      present((document.components['schemas'] as Record<string, Json>)[errorName(code)], code),
    check(what, schema, value) {
      const validate = compile(schema)
      if (validate(value)) return
      const { instancePath, message, params } = present(validate.errors?.[0], 'the fault')
      throw new Error(
        `${what} is not what the document says: ${instancePath} ${message} ` +
          `${JSON.stringify(params)}`,
      )
    },
  }
}

/** Times are UTC. What is only sent, and what a configuration holds, is not judged here. */
const FORMATS = {
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
  uri: /^[a-z][a-z0-9+.-]*:/i,
  email: true as const,
}

/**
 * Compiles a schema on first use. OpenAPI 3.0 schemas are draft-04 ones with `nullable`, which ajv
 * knows.
 */
function compiler(components: Json): (schema: Json) => ValidateFunction {
  const ajv = new draft04.default({ strict: false, logger: false, formats: FORMATS })
  ajv.addSchema({ components }, 'document')
  const compiled = new WeakMap<Json, ValidateFunction>()
  return (schema) => {
    let validate = compiled.get(schema)
    if (!validate)
      compiled.set(
        schema,
        (validate = ajv.compile(
          JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')) as Json,
        )),
      )
    return validate
  }
}
