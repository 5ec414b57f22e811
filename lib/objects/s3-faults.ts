/**
 * What goes wrong with an S3 server, in one line that names what to do something about, and never a
 * secret.
 */
import { MINUTE } from '../core/clock.js'

/**
 * `unreachable`: it may work later without a change. `missing`: the object is not there. `refused`:
 * what was asked for never works until somebody changes a setting, a right or a clock.
 */
export type FaultKind = 'unreachable' | 'missing' | 'refused'

/** Thrown by a store that keeps its objects elsewhere. Its message is one line. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** What the server said before its body was read. */
export interface Answer {
  /** Of the request; to HEAD there is no body that would say why it is refused. */
  method: string
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
}

export interface Asked {
  /** `host:port`. */
  host: string
  bucket: string
  region: string
  accessKey: string
  /** The right that the request needs: `s3:PutObject`. */
  right: string
  /** Milliseconds that it had. */
  limit: number
  timedOut: boolean
  /** Null when none came. */
  answer: Answer | null
  now: number
}

/** S3 refuses a signature whose time is further from its own. */
const TOLERATED_SKEW = 15 * MINUTE

export function isFault(error: unknown, kind: FaultKind): boolean {
  return (
    error instanceof Error && error.name === 'StoreFault' && (error as StoreFault).kind === kind
  )
}

/** The fault that an error of the client stands for. */
export function faultOf(error: unknown, asked: Asked): StoreFault {
  if (error instanceof Error && error.name === 'StoreFault') return error as StoreFault
  const { host, limit, timedOut, answer } = asked
  const code = textOf(error, 'code') ?? textOf(error, 'Code') ?? ''
  if (timedOut)
    return new StoreFault(
      'unreachable',
      `S3 at ${host} did not answer within ${Math.ceil(limit / 1_000)} seconds`,
    )
  if (!answer || isSystemCode(code)) return connectionFault(error, code, host)
  return (
    clockFault(code, error, answer, asked) ??
    regionFault(code, error, answer, asked) ??
    refusal(code, answer, asked)
  )
}

function connectionFault(error: unknown, code: string, host: string): StoreFault {
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/.test(code))
    return new StoreFault(
      'refused',
      `S3 at ${host} has no TLS that is accepted here (${code}): is the address right, http ` +
        'or https, and its certificate known?',
    )
  if (code.startsWith('HPE_'))
    return new StoreFault(
      'refused',
      `what answers at ${host} does not speak HTTP (${code}): is the address right, http or https?`,
    )
  return new StoreFault(
    'unreachable',
    `S3 at ${host} cannot be reached ` +
      `(${code || oneLine(error instanceof Error ? error.message : String(error))})`,
  )
}

function clockFault(
  code: string,
  error: unknown,
  { status, headers }: Answer,
  { host, now }: Asked,
): StoreFault | null {
  const skew = skewOf(headers['date'], now) ?? skewOf(textOf(error, 'servertime') ?? undefined, now)
  const isOff =
    code === 'RequestTimeTooSkewed' ||
    ((status === 400 || status === 403) && skew !== null && Math.abs(skew) > TOLERATED_SKEW)
  return isOff
    ? new StoreFault(
        'refused',
        `this machine's clock is ` +
          `off${skew === null ? '' : `: ${describeSkew(skew)} that of S3 at ${host}`}; set it, ` +
          'since S3 refuses what was signed 15 minutes before or after its own time',
      )
    : null
}

/** Milliseconds by which our clock is ahead of that of an answer; null where it tells no time. */
export function skewOf(date: string | string[] | null | undefined, now: number): number | null {
  const theirs = typeof date === 'string' ? Date.parse(date) : Number.NaN
  return Number.isNaN(theirs) ? null : now - theirs
}

/** `20 minutes ahead of`. */
export function describeSkew(skew: number): string {
  const minutes = Math.max(1, Math.round(Math.abs(skew) / MINUTE))
  return `${minutes} minute${minutes === 1 ? '' : 's'} ${skew > 0 ? 'ahead of' : 'behind'}`
}

function regionFault(
  code: string,
  error: unknown,
  { status, headers }: Answer,
  { host, bucket, region }: Asked,
): StoreFault | null {
  const header = headers['x-amz-bucket-region']
  const theirs = oneLine(typeof header === 'string' ? header : (textOf(error, 'region') ?? ''))
  const isMoved =
    status === 301 ||
    status === 307 ||
    [
      'AuthorizationHeaderMalformed',
      'AuthorizationQueryParametersError',
      'IllegalLocationConstraintException',
      'PermanentRedirect',
    ].includes(code)
  if (theirs !== '' && theirs !== region && status >= 300)
    return new StoreFault(
      'refused',
      `the region "${region}" is wrong for bucket "${bucket}" at ${host}: the server says ` +
        `"${theirs}"`,
    )
  if (!isMoved) return null
  const elsewhere = textOf(error, 'endpoint')
  return new StoreFault(
    'refused',
    elsewhere
      ? `bucket "${bucket}" is not at ${host}: the server says ${oneLine(elsewhere)}`
      : `S3 at ${host} does not accept region "${region}" for bucket "${bucket}" ` +
          `(${code || status})`,
  )
}

function refusal(
  code: string,
  { method, status }: Answer,
  { host, bucket, accessKey, right }: Asked,
): StoreFault {
  if (status === 429 || status >= 500)
    return new StoreFault('unreachable', `S3 at ${host} answers ${status}`)
  switch (code) {
    case 'NoSuchBucket':
      return noBucket(host, bucket)
    case 'InvalidAccessKeyId':
      return new StoreFault(
        'refused',
        `S3 at ${host} does not know the access key "${oneLine(accessKey)}"`,
      )
    case 'SignatureDoesNotMatch':
      return new StoreFault(
        'refused',
        `S3 at ${host} refuses the signature: the secret key is not that of access key ` +
          `"${oneLine(accessKey)}"`,
      )
    default:
  }
  // Without a code it may be any web server.
  if (status === 404 && code !== '')
    return new StoreFault(
      'missing',
      `S3 at ${host} has nothing of that name in bucket "${bucket}" (${oneLine(code)})`,
    )
  if (method === 'HEAD' && (status === 401 || status === 403))
    return new StoreFault(
      'refused',
      `S3 at ${host} forbids it, without saying why: access key "${oneLine(accessKey)}", its ` +
        `secret key, or its right ${right} on bucket "${bucket}"`,
    )
  if (status === 401 || status === 403)
    return new StoreFault(
      'refused',
      `S3 at ${host} forbids it: access key "${oneLine(accessKey)}" lacks the right ${right} ` +
        `on bucket "${bucket}"`,
    )
  return new StoreFault(
    'refused',
    `S3 at ${host} answers ` +
      `${status}${code === '' ? ' without a reason' : ` ${oneLine(code)}`} to what needs ` +
      `${right}: is it an S3 server?`,
  )
}

export function noBucket(host: string, bucket: string): StoreFault {
  return new StoreFault('refused', `S3 at ${host} has no bucket "${bucket}"`)
}

/**
 * Of an error or what the client throws in its place, a plain object with the members of the XML.
 */
function textOf(error: unknown, name: string): string | null {
  const value: unknown =
    typeof error === 'object' && error !== null
      ? (error as Record<string, unknown>)[name]
      : undefined
  return typeof value === 'string' && value !== '' ? value : null
}

/** `ECONNRESET` is the system's, `EntityTooLarge` S3's. */
function isSystemCode(code: string): boolean {
  return /^(E[A-Z0-9_]+|HPE_\w+|ERR_\w+)$/.test(code)
}

/** Words of another server: short, and without anything that would be a second line. */
export function oneLine(text: string): string {
  return text
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .trim()
    .slice(0, 200)
}
