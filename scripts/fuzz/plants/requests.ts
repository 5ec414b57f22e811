/** Bugs of what is taken, refused and counted before an endpoint runs. */
import type * as Quota from '../../../lib/core/quota.js'
import type * as Json from '../../../lib/core/json.js'
import type * as Text from '../../../lib/core/text.js'
import type * as Body from '../../../server/http/body.js'
import type * as Handle from '../../../server/http/handle.js'
import type * as Query from '../../../server/http/query.js'
import type * as Refusal from '../../../server/http/refusal.js'
import type { Seam } from '../../plants/seam.js'
import type { FuzzPlant } from './plant.js'

/** A body may have so many bytes more than a megabyte. */
const bodyOf = (more: number): Seam => ({
  at: 'server/http/body.ts#readBody',
  make:
    (real: typeof Body.readBody): typeof real =>
    (request, { most, ...rest }) =>
      real(request, { most: most + more, ...rest }),
})

const withoutHalves = (text: string) => text.replaceAll(/\p{Surrogate}/gu, '')

export const REQUESTS: readonly FuzzPlant[] = [
  { name: 'a body of a byte more is taken', found: /a megabyte and a byte/, seams: [bodyOf(1)] },
  { name: 'a body of a megabyte is not taken', found: /a megabyte of blanks/, seams: [bodyOf(-1)] },
  {
    name: 'a level more is taken',
    found: /65 levels/,
    seams: [
      {
        at: 'lib/core/json.ts#jsonExcess',
        make:
          (real: typeof Json.jsonExcess): typeof real =>
          (json) =>
            real(json.replace(/^\s*[[{]/, '')),
      },
    ],
  },
  {
    name: 'a call more in a minute',
    found: /^state: the limit of a minute/,
    seams: [
      {
        at: 'lib/core/quota.ts#SlidingWindow',
        make: (real: typeof Quota.SlidingWindow): typeof real =>
          class extends real {
            constructor(limit: number) {
              super(limit + 1)
            }
          },
      },
    ],
  },
  {
    name: 'a parameter twice is taken once',
    found: /twice/,
    seams: [
      {
        at: 'server/http/query.ts#decodeQuery',
        make:
          (real: typeof Query.decodeQuery): typeof real =>
          (search, kinds, faults) => {
            const once = new URLSearchParams(search)
            for (const name of new Set(search.keys())) {
              const [first, ...others] = search.getAll(name)
              if (others.length === 1) once.set(name, first!)
            }
            return real(once, kinds, faults)
          },
      },
    ],
  },
  {
    name: 'infinity is a number',
    found: /^not refused|^server error|^shape/,
    seams: [
      {
        at: 'server/http/query.ts#decodeQuery',
        make:
          (real: typeof Query.decodeQuery): typeof real =>
          (search, kinds, faults) => {
            const query = real(search, kinds, faults)
            for (const [name, kind] of kinds) {
              const value = query[name]
              if (kind !== 'number' || typeof value !== 'number') continue
              query[name] = Math.max(-1e300, Math.min(1e300, value))
            }
            return query
          },
      },
    ],
  },
  {
    name: 'half a surrogate pair is text',
    found: /half/,
    seams: [
      {
        at: 'lib/core/text.ts#textFault',
        make:
          (real: typeof Text.textFault): typeof real =>
          (text) =>
            real(withoutHalves(text)),
      },
      {
        at: 'lib/core/text.ts#nameFault',
        make:
          (real: typeof Text.nameFault): typeof real =>
          (text) =>
            real(withoutHalves(text)),
      },
    ],
  },
  {
    name: '__proto__ is dropped',
    found: /prototype|__proto__/,
    seams: [
      {
        at: 'lib/core/json.ts#checkTexts',
        make:
          (real: typeof Json.checkTexts): typeof real =>
          (value, faults) => {
            const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
            if (!isObject) return real(value, faults)
            const members = Object.entries(value).filter(([name]) => name !== '__proto__')
            return real(Object.fromEntries(members), faults)
          },
      },
    ],
  },
  {
    name: 'a fault is at another place',
    found: /^wrong answer/,
    seams: [
      {
        at: 'lib/core/json.ts#pathText',
        make:
          (real: typeof Json.pathText): typeof real =>
          (path) =>
            real(path.map((part) => (typeof part === 'number' ? part + 1 : part))),
      },
    ],
  },
  {
    name: 'a refusal without the limits',
    found: /^header: /,
    seams: [
      {
        at: 'server/http/refusal.ts#refuse',
        make:
          (real: typeof Refusal.refuse): typeof real =>
          (app, error, headers, request) => {
            const { 'ratelimit-policy': _policy, ratelimit: _limit, ...others } = headers
            return real(app, error, others, request)
          },
      },
    ],
  },
  {
    name: 'a timer is left',
    found: /^LEFT/,
    seams: [
      {
        at: 'server/http/handle.ts#makeHandler',
        make:
          (real: typeof Handle.makeHandler): typeof real =>
          (parts, endpoint) => {
            const handle = real(parts, endpoint)
            return (incoming) => {
              setTimeout(() => {}, 600_000)
              return handle(incoming)
            }
          },
      },
    ],
  },
]
