/** Calls of an S3 server through the `minio` client: one at a time, each with its own end. */
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { Client } from 'minio'
import { inTime } from '../core/async/wait.js'
import { faultOf } from './s3-faults.js'
import type { Answer } from './s3-faults.js'

export interface S3Options {
  /** `http(s)://host[:port]` at which this process reaches the server. */
  endpoint: string
  /** A private bucket that is there. */
  bucket: string
  /** As the server names it; `us-east-1` where it has none. */
  region: string
  accessKey: string
  secretKey: string
  /**
   * True for `https://host/bucket/key`, false for `https://bucket.host/key`, which Amazon prefers.
   */
  pathStyle: boolean
  /**
   * `http(s)://host[:port]` at which callers reach the server, for the signed URLs; the endpoint by
   * default.
   */
  publicEndpoint?: string
  /**
   * Comes before every key, for a bucket that others use too: `quartermaster` makes
   * `quartermaster/exports/...`.
   */
  prefix?: string
  /** Milliseconds since 1970: the time from which a URL's seconds are counted. */
  now: () => number
}

export interface Endpoint {
  host: string
  port: number
  secure: boolean
  /** `host:port`, for a person. */
  label: string
}

export interface S3Calls {
  readonly endpoint: Endpoint
  readonly publicEndpoint: Endpoint
  /**
   * Hands a client to `ask`, which has `limit` milliseconds for its requests; whatever is open then
   * is closed. Throws a StoreFault. `right` is what S3 calls the right to it.
   */
  call<T>(right: string, limit: number, ask: (client: Client) => Promise<T>): Promise<T>
  /** A client that signs URLs of the public endpoint; it asks nobody. */
  signer(): Promise<Client>
}

/** Throws an Error whose message begins with the name of the option that is wrong. */
export function openCalls(options: S3Options): S3Calls {
  const { bucket, region, accessKey, now } = options
  const endpoint = parseEndpoint('endpoint', options.endpoint)
  const publicEndpoint =
    options.publicEndpoint === undefined
      ? endpoint
      : parseEndpoint('publicEndpoint', options.publicEndpoint)
  checkNames(options)
  return {
    endpoint,
    publicEndpoint,
    signer: () => clientFor(options, publicEndpoint),
    async call(right, limit, ask) {
      const transport = makeTransport(endpoint)
      let timedOut = false
      try {
        // The client waits for bodies by itself, and may miss that they were cut off.
        return await inTime(() => clientFor(options, endpoint, transport).then(ask), {
          ms: limit,
          late: () => {
            timedOut = true
            throw new Error('late')
          },
        })
      } catch (error) {
        throw faultOf(error, {
          host: endpoint.label,
          bucket,
          region,
          accessKey,
          right,
          limit,
          timedOut,
          answer: transport.answer(),
          now: now(),
        })
      } finally {
        transport.end()
      }
    },
  }
}

async function clientFor(
  { region, accessKey, secretKey, pathStyle }: S3Options,
  { host, port, secure }: Endpoint,
  transport?: Transport,
): Promise<Client> {
  // Loaded with the first call: it takes a while, and a command that needs no file should not wait
  // for it.
  const minio = await import('minio')
  return new minio.Client({
    endPoint: host,
    port,
    useSSL: secure,
    region,
    accessKey,
    secretKey,
    pathStyle,
    // It would sleep, and write to the console; who asks knows better whether to ask again.
    retryOptions: { disableRetry: true },
    ...(transport && { transport: transport as never, transportAgent: transport.agent }),
  })
}

interface Transport {
  readonly agent: HttpAgent
  request(options: RequestOptions, onAnswer: (response: IncomingMessage) => void): ClientRequest
  /** The last answer. */
  answer(): Answer | null
  end(): void
}

/**
 * Connections of one call. None outlives it: one that stood idle may be dead, and only a retry
 * would tell.
 */
function makeTransport({ secure }: Endpoint): Transport {
  const agent = secure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const ended = new AbortController()
  let answer: Answer | null = null
  return {
    agent,
    request(options, onAnswer) {
      return (secure ? httpsRequest : httpRequest)(
        { ...options, signal: ended.signal },
        (response) => {
          answer = {
            method: options.method ?? 'GET',
            status: response.statusCode ?? 0,
            headers: response.headers,
          }
          onAnswer(response)
        },
      )
    },
    answer: () => answer,
    end() {
      ended.abort()
      agent.destroy()
    },
  }
}

function parseEndpoint(name: string, text: string): Endpoint {
  const url = URL.canParse(text) ? new URL(text) : null
  // Not repeated: it may hold a password.
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new Error(`${name}: must be as https://s3.example:9000, without a user`)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new Error(
      `${name}: must be as https://s3.example:9000, without a path; the bucket has its own setting`,
    )
  const secure = url.protocol === 'https:'
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port,
    secure,
    label: `${url.hostname}:${port}`,
  }
}

function checkNames({ bucket, region, accessKey, secretKey }: S3Options): void {
  if (
    !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) ||
    bucket.includes('..') ||
    /^\d+\.\d+\.\d+\.\d+$/.test(bucket)
  )
    throw new Error(
      `bucket: "${bucket.slice(0, 100)}" is not a name of a bucket: 3 to 63 lower-case ` +
        'letters, digits, dots and dashes',
    )
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(region))
    throw new Error('region: must be as us-east-1, the name that the server gives it')
  if (accessKey === '') throw new Error('accessKey: must not be empty')
  if (secretKey === '') throw new Error('secretKey: must not be empty')
}
