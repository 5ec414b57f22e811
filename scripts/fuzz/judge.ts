/**
 * What is wrong with an answer: checked against the document, against what was expected of the
 * request, and for what it gives away.
 */
import type { Documented } from './document.js'
import type { Plan } from './plan.js'
import { brokenPromise } from './promises.js'

export interface Answer {
  status: number
  headers: Headers
  text: string
}

/** A rule that an answer breaks. `sign` is the same for what is the same fault. */
export interface Finding {
  rule:
    | 'server error'
    | 'undocumented'
    | 'shape'
    | 'envelope'
    | 'header'
    | 'leak'
    | 'refused'
    | 'not refused'
    | 'promise'
    | 'wrong answer'
    | 'slow'
    | 'state'
    | 'socket'
    | 'log'
  sign: string
  detail: string
}

interface Envelope {
  success?: unknown
  data?: unknown
  error?: { code?: unknown; message?: unknown; details?: unknown }
}

/** Words of the machine, which no caller should read unless the caller wrote them. */
const INTERNAL = [
  ' at Object.',
  '\\n    at ',
  'node_modules',
  'node:internal',
  'SQLITE',
  'sqlite',
  'SELECT ',
  'INSERT INTO',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'Cannot read prop',
  'is not a function',
  'is not iterable',
  '[object Object]',
  '/dev/shm',
  process.cwd(),
  '.ts:',
  '.mjs:',
  'ENOENT',
  'EACCES',
  'in JSON at position',
  'Unexpected token',
  'safe integer',
  'undefined',
  'expected string, received',
  'Invalid input',
]
/** Refusals that a call meets whatever it says, and that the document lists for it. */
const OF_FORM = new Set([
  'invalid_json',
  'invalid_parameter',
  'invalid_upc',
  'schema_validation_failed',
  'method_not_allowed',
  'payload_too_large',
])

export interface JudgeOptions {
  /** Texts that must not be told. */
  secrets: readonly string[]
  /** The folder's path. */
  dir: string
}

export function makeJudge({ secrets, dir }: JudgeOptions) {
  const internal = [dir, ...INTERNAL]
  const findSecret = makeFinder(secrets)
  /** Long answers that were found right before: documents and schemas, of which there are few. */
  const seen = new Set<string>()

  return (plan: Plan, answer: Answer): Finding | null => {
    const { operation } = plan
    const { status, headers, text } = answer
    const found = (rule: Finding['rule'], sign: string, detail = ''): Finding => ({
      rule,
      sign: `${rule}: ${operation?.id ?? 'no operation'} ${sign}`,
      detail: `${detail} (${status} ${text.slice(0, 600)})`,
    })
    const isProvoked =
      status === 503 &&
      typeof plan.body === 'string' &&
      /SIM-(UNREACHABLE|RATE-LIMITED)/i.test(plan.body)
    if (status >= 500 && !isProvoked)
      return found('server error', `${status} ${/"code":"(\w+)"/.exec(text)?.[1]}`)
    const documented = operation?.responses.get(status)
    const header = headerFault(answer, documented, plan)
    if (header) return found('header', header)
    if (plan.method === 'HEAD' || status === 304)
      return text === '' ? null : found('envelope', 'HEAD with a body')
    const type = headers.get('content-type') ?? ''
    if (!type.startsWith('application/json'))
      return documented && documented.validate === null && type.startsWith('text/')
        ? null
        : found('header', `content-type ${type}`)
    if (text.length > 20_000) {
      if (seen.has(text)) return null
      if (seen.size < 500 && operation?.method === 'GET') seen.add(text)
    }
    const leak = leakOf(plan, text, secrets, internal, findSecret)
    if (leak !== null) return found('leak', leak.slice(0, 40))
    let body: Envelope
    try {
      body = JSON.parse(text) as Envelope
    } catch {
      return found('envelope', 'no JSON')
    }
    const code = typeof body.error?.code === 'string' ? body.error.code : null
    if (status === 200) {
      if (operation && !documented) return found('undocumented', '200')
    } else if (code === null) return found('envelope', 'no code')
    const envelope = envelopeFault(status, body, documented)
    if (envelope) return found('envelope', envelope)
    if (operation) {
      if (!documented) return found('undocumented', `${status} ${code}`)
      if (code !== null && !documented.codes.has(code))
        return found('undocumented', `${status} ${code}`)
      const error = documented.validate?.(body)
      if (error)
        return found(
          'shape',
          `${status} ${error.instancePath.replaceAll(/\d+/g, 'n')} ${error.keyword}`,
          `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
        )
    }
    if (
      status === 200 &&
      plan.expect.kind === 'valid' &&
      operation?.isBodyValid &&
      typeof plan.body === 'string' &&
      plan.sort === 'valid'
    ) {
      const error = operation.isBodyValid(JSON.parse(plan.body))
      const verdict = (body.data as { schema_valid?: boolean } | undefined)?.schema_valid
      // That asterisks stand for nothing is not a matter of the schema.
      if (
        verdict !== undefined &&
        verdict !== (error === null) &&
        !/asterisks|stored secret/.test(text)
      )
        return found(
          'shape',
          `a document is ${String(verdict)} here and not by the published schema`,
          `${error?.instancePath} ${error?.message}`,
        )
      if (error && verdict === undefined)
        return found(
          'shape',
          `a body that was taken: ${error.instancePath.replaceAll(/\d+/g, 'n')} ${error.keyword}`,
          `${error.instancePath} ${error.message}`,
        )
    }
    if (status === 200 && operation && plan.sort === 'valid') {
      const query = Object.fromEntries(new URLSearchParams(plan.target.split('?')[1] ?? ''))
      const broken = brokenPromise(operation.id, query, text, body.data)
      if (broken !== null) return found('promise', broken)
    }
    return expectationFault(plan, status, code, body, found)
  }
}

function expectationFault(
  { expect, what, sort }: Plan,
  status: number,
  code: string | null,
  body: Envelope,
  found: (rule: Finding['rule'], sign: string, detail?: string) => Finding,
): Finding | null {
  switch (expect.kind) {
    case 'any':
      return null
    case 'valid':
      return code !== null && OF_FORM.has(code)
        ? found(
            'refused',
            `${sort}: ${code} ${faultsOf(body)
              .map(({ path }) => String(path).replaceAll(/\d+/g, 'n'))
              .slice(0, 1)
              .join()}`,
            what,
          )
        : null
    case 'answer':
      return expect.answers.includes(`${status} ${code}`)
        ? null
        : found(
            'wrong answer',
            `${sort}: ${status} ${code}`,
            `${what}, wanted ${expect.answers.join(' or ')}`,
          )
    case 'fault': {
      if (code === 'rate_limited') return null
      const faults = [...faultsOf(body), ...dryRunFaults(body)]
      if (status !== 400 && faults.length === 0)
        return found('not refused', `${sort}: ${status} ${code ?? ''}`, what)
      const wanted = [expect.path, ...dotted(expect.path)]
      const fits = faults.some(({ path }) =>
        wanted.some((name) => path === name || (expect.loosely && related(path, name))),
      )
      return fits
        ? null
        : found(
            'wrong answer',
            `${sort}: ${code}`,
            `${what}, wanted a fault at ${expect.path}, not at ${faults
              .map(({ path }) => path)
              .join(', ')
              .slice(0, 60)}`,
          )
    }
  }
}

/**
 * The rules of texts hold for every body alike, and name a place of a document by the way of every
 * other body, the wrapping included.
 */
function dotted(path: string): string[] {
  if (!path.startsWith('/')) return []
  const parts = path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const plain = parts
    .map((part, i) => (/^\d+$/.test(part) ? `[${part}]` : i === 0 ? part : `.${part}`))
    .join('')
  return [plain, `configuration.${plain}`, parts.join('.')]
}

function related(path: unknown, wanted: string): boolean {
  const text = String(path)
  return text.startsWith(wanted) || wanted.startsWith(text) || text === 'body'
}

function faultsOf({ error }: Envelope): { path: unknown }[] {
  return Array.isArray(error?.details) ? (error.details as { path: unknown }[]) : []
}

/** A dry run of a document tells its faults in a success. */
function dryRunFaults({ data }: Envelope): { path: unknown }[] {
  const errors = (data as { errors?: unknown } | undefined)?.errors
  return Array.isArray(errors) ? (errors as { path: unknown }[]) : []
}

function envelopeFault(
  status: number,
  body: Envelope,
  documented: Documented | undefined,
): string | null {
  if (status !== 200) {
    const names = Object.keys(body).join()
    if (names !== 'success,error' || body.success !== false) return `members ${names.slice(0, 60)}`
    const inner = Object.keys(body.error!).join()
    if (inner !== 'code,message' && inner !== 'code,message,details')
      return `members of error: ${inner.slice(0, 60)}`
    if (
      typeof body.error!.message !== 'string' ||
      body.error!.message === '' ||
      body.error!.message.length > 4_000
    )
      return 'message'
    return null
  }
  // Without a documented shape it is the envelope; a shape says by itself what it is.
  if (documented === undefined || documented.validate === null) return null
  return 'success' in body && Object.keys(body).join() !== 'success,data'
    ? `members ${Object.keys(body).join().slice(0, 60)}`
    : null
}

function headerFault(
  { status, headers, text }: Answer,
  documented: Documented | undefined,
  { operation, method, target }: Plan,
): string | null {
  if (!/^[\w.:-]{1,100}$/.test(headers.get('x-request-id') ?? '')) return 'x-request-id'
  if (operation !== null && operation.needsKey && headers.get('cache-control') !== 'no-store')
    return 'cache-control'
  if (status !== 304 && !isLength(headers, text, method)) return 'content-length'
  for (const { name, validate, isNumber } of documented?.headers ?? []) {
    const text = headers.get(name)
    if (text === null) return `${status} without ${name}`
    if (validate(isNumber ? Number(text) : text)) return `${status} ${name}: ${text.slice(0, 60)}`
  }
  if (status === 200 && operation !== null) {
    const ignored = headers.get('x-ignored-parameters')
    const fault = ignoredFault(
      ignored,
      target,
      new Set(
        operation.parameters
          .filter((parameter) => parameter.in === 'query')
          .map(({ name }) => name),
      ),
    )
    if (fault !== null) return fault
  }
  if (status === 405 && !headers.has('allow')) return '405 without allow'
  if (status === 429 && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? ''))
    return '429 retry-after'
  return null
}

/**
 * Every parameter that the document does not have is named, as far as there is room, and no other.
 */
function ignoredFault(
  told: string | null,
  target: string,
  known: ReadonlySet<string>,
): string | null {
  const at = target.indexOf('?')
  const names = at < 0 ? [] : [...new URLSearchParams(target.slice(at + 1).split('#')[0]).keys()]
  const unknown = new Set(names.filter((name) => name !== '' && !known.has(name)))
  if (told === null) return unknown.size === 0 ? null : 'x-ignored-parameters is missing'
  const said = told.split(', ')
  if (told.length > 200 || said.length > 10) return 'x-ignored-parameters is too long'
  if (
    told.length < 190 &&
    said.length <
      Math.min(10, [...unknown].filter((name) => encodeURIComponent(name).length < 20).length)
  )
    return 'x-ignored-parameters names too few'
  return said.every((name) => [...unknown].some((one) => encodeURIComponent(one).startsWith(name)))
    ? null
    : 'x-ignored-parameters names another'
}

/** As many bytes as are told, where they are told before they are packed. */
function isLength(headers: Headers, text: string, method: string): boolean {
  const told = headers.get('content-length')
  return (
    told !== null &&
    (method === 'HEAD' ||
      headers.has('content-encoding') ||
      Number(told) === Buffer.byteLength(text))
  )
}

/**
 * Of many words that look alike, those that a text has: one walk over it instead of one for each of
 * them.
 */
function makeFinder(words: readonly string[]): (text: string) => string | undefined {
  const looks: [RegExp, Set<string>][] = [
    [/[A-Z0-9]{40}/g, new Set()],
    [/[0-9a-f]{64}/g, new Set()],
  ]
  const others = words.filter(
    (word) => !looks.some(([look, alike]) => word.replace(look, '') === '' && alike.add(word)),
  )
  return (text) => {
    for (const [look, alike] of looks)
      for (const [found] of text.matchAll(look)) if (alike.has(found)) return found
    return others.find((word) => text.includes(word))
  }
}

/** What the request itself says may be said back; the secrets of a document never. */
function leakOf(
  { body, target, headers, operation }: Plan,
  text: string,
  secrets: readonly string[],
  internal: readonly string[],
  findSecret: (text: string) => string | undefined,
): string | null {
  const told = findSecret(text) ?? internal.find((word) => text.includes(word))
  if (told === undefined) return null
  if (secrets.includes(told) && operation?.id.startsWith('config')) return told
  const sent = `${target} ${decode(target)} ${Object.values(headers).join(' ')} ${body === null ? '' : String(body)}`
  return (
    [...secrets, ...internal].find((word) => text.includes(word) && !sent.includes(word)) ?? null
  )
}

function decode(target: string): string {
  try {
    return decodeURIComponent(target.replaceAll('+', ' '))
  } catch {
    return ''
  }
}
