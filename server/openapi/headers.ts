/** Headers of answers, as they really are. */
import type { Json } from './schemas.js'
import { present } from '../../lib/core/present.js'

const text = (description: string, example: string, rules: Json = {}): Json => ({
  description,
  schema: { type: 'string', ...rules },
  example,
})

/** The component's name of each header, and what it is. */
const HEADERS: Record<string, [component: string, header: Json]> = {
  'X-Request-Id': [
    'RequestId',
    text(
      'Yours when you sent one of up to 100 letters, digits and . _ : -, else made here. ' +
        'The log and an `internal_error` name it.',
      'hQ3mC1rWv0eJqYfB',
      { pattern: '^[\\w.:-]{1,100}$' },
    ),
  ],
  'X-Service-Mode': [
    'ServiceMode',
    text(
      'Whether orders are real: `simulator`, `live`, or `mixed` where some distributors ' +
        'are live and others are not.',
      'simulator',
      { enum: ['simulator', 'live', 'mixed'] },
    ),
  ],
  'Cache-Control': [
    'NoStore',
    text('`no-store`: nothing that a key was needed for is kept on the way.', 'no-store', {
      enum: ['no-store'],
    }),
  ],
  'RateLimit-Policy': [
    'RateLimitPolicy',
    text(
      'The limits of the key by name: `q` requests in `w` seconds.',
      '"minute";q=1000;w=60, "day";q=1000000;w=86400',
    ),
  ],
  RateLimit: [
    'RateLimit',
    text(
      'What is left of each limit: `r` requests for the next `t` seconds.',
      '"minute";r=997;t=60, "day";r=999997;t=43200',
    ),
  ],
  'Retry-After': [
    'RetryAfter',
    {
      description: 'Whole seconds to wait, never too few.',
      schema: { type: 'integer', minimum: 1 },
      example: 12,
    },
  ],
  'X-Ignored-Parameters': [
    'IgnoredParameters',
    text(
      'Query parameters that the endpoint does not know and that changed nothing: ' +
        'percent-encoded names, at most 10 and 200 bytes. Absent where every one is known.',
      'query, pagesize',
      { maxLength: 200 },
    ),
  ],
  Allow: ['Allow', text('The methods that the address takes.', 'GET, HEAD')],
  ETag: [
    'ETag',
    text(
      'Of the document; send it as If-Match to save over this version only.',
      '"1-MPVKheI0_VcA"',
      { pattern: '^"[^"]+"$' },
    ),
  ],
}

/** Of an answer to a query with names that nobody knows. */
const IGNORED = 'X-Ignored-Parameters'

/** Every answer has these. */
const ALWAYS = ['X-Request-Id', 'X-Service-Mode', 'Cache-Control'] as const
/** Every answer to a key that was let in has these too. */
const LIMITS = ['RateLimit-Policy', 'RateLimit'] as const

/** Components by name; all but one are there whenever a response names them so. */
export function headerComponents(): Json {
  return Object.fromEntries(
    Object.values(HEADERS).map(([component, header]) => [
      component,
      { ...header, required: component !== headerOf(IGNORED)[0] },
    ]),
  )
}

const headerOf = (name: string) => present(HEADERS[name], `the header ${name}`)

const always = (name: string): [string, Json] => [
  name,
  { $ref: `#/components/headers/${headerOf(name)[0]}` },
]
function sometimes(name: string, when: string): [string, Json] {
  const [, header] = headerOf(name)
  return [name, { ...header, description: `${header['description'] as string} ${when}` }]
}

/** Headers of a success. `own` are those of the endpoint. */
export function successHeaders(own: readonly string[]): Json {
  return Object.fromEntries([...own, ...ALWAYS, ...LIMITS, IGNORED].map(always))
}

/**
 * Headers of the refusals of one status. `isOwn`: some of them come from beyond the gate, which
 * lets a key in; `isOpen`: there is no gate.
 */
export function refusalHeaders(status: number, { isOwn = false, isOpen = false }): Json {
  const headers = ALWAYS.map(always)
  if (status === 405) headers.push(always('Allow'))
  if (status === 429) headers.push(always('Retry-After'))
  if (status === 503) headers.push(sometimes('Retry-After', 'Where it is known.'))
  if (isOpen || status === 401 || status === 431 || (status === 403 && !isOwn))
    return Object.fromEntries(headers)
  // An address with another method has no parameters that it could know.
  if (status !== 405) headers.push(always(IGNORED))
  // A wrong key has no limits, and what goes wrong before it is looked up says none.
  const isSure = ![403, 429, 500, 503].includes(status)
  for (const name of LIMITS)
    headers.push(isSure ? always(name) : sometimes(name, 'Only for a key that was let in.'))
  return Object.fromEntries(headers)
}

/** Headers of a page of the documentation. */
export function pageHeaders(): Json {
  return Object.fromEntries([
    always('X-Request-Id'),
    always('X-Service-Mode'),
    always(IGNORED),
    [
      'Cache-Control',
      { ...text('How long it may be kept.', 'public, max-age=300'), required: true },
    ],
    [
      'ETag',
      {
        ...text(
          'Send it as If-None-Match to be told whether there is another.',
          'W/"0b1CmV4tq2Hk5sY8uRz3aQ"',
        ),
        required: true,
      },
    ],
  ])
}
