/**
 * A feed's file from where the operator said: an http(s) URL into the feeds folder, a local path in
 * place.
 */
import { createHash, randomUUID } from 'node:crypto'
import { lookup } from 'node:dns'
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isPrivate } from '../../core/net/addresses.js'
import { codeOf } from '../../core/errors.js'
import { deadlineIn } from '../../core/async/wait.js'
import { MINUTE, SECOND } from '../../core/clock.js'

export interface FetchInput {
  /**
   * `http:`, `https:` or `file:` URL, or a path. A user and password in it are sent, and never
   * shown.
   */
  location: string
  /** Folder for downloads; made when it is missing. */
  into: string
  /** Milliseconds; stands in for a missing Last-Modified. */
  now: number
  maxBytes?: number
  /** For the whole download. */
  timeoutMs?: number
  headers?: Record<string, string>
  /** Allows loopback, private and link-local addresses. */
  allowPrivate?: boolean
  /** Gives the download up; `fetchFeed` then rejects like for any other fault. */
  signal?: AbortSignal | undefined
}

export interface FetchedFeed {
  file: string
  /**
   * When the file was made, milliseconds; never after now, since a clock that is ahead would make
   * every later feed look old.
   */
  asOf: number
  bytes: number
}

const MAX_BYTES = 2 * 1024 ** 3
const TIMEOUT = 10 * MINUTE
/** Milliseconds without a byte until a download is given up. */
const STALL = 60_000

/** Brings the feed's file. Errors name the location, without its secrets, and the cause. */
export async function fetchFeed(input: FetchInput): Promise<FetchedFeed> {
  const { location } = input
  try {
    if (/^https?:\/\//i.test(location)) return await download(input)
    return local(/^file:/i.test(location) ? fileURLToPath(location) : location, input.now)
  } catch (error) {
    throw new Error(`${redact(location)}: ${causeOf(error)}`, { cause: error })
  }
}

/**
 * A location for messages, logs and the audit: a URL without user, password, query and fragment, a
 * path as it is.
 */
export function redact(location: string): string {
  const [, scheme, rest] = /^([a-z][a-z\d+.-]*:\/\/)(.*)$/is.exec(location) ?? []
  if (scheme === undefined || rest === undefined) return location
  // In what is not a URL nobody can tell where a password with a slash in it ends.
  if (!URL.canParse(location)) return `${scheme}…`
  return scheme + rest.replace(/^[^/?#]*@/, '').replace(/([?#]).*$/s, '$1…')
}

function local(path: string, now: number): FetchedFeed {
  const found = statSync(path)
  if (!found.isFile()) throw new Error('this is not a file')
  return { file: path, asOf: Math.min(Math.floor(found.mtimeMs), now), bytes: found.size }
}

async function download(input: FetchInput): Promise<FetchedFeed> {
  const { location, into, now, maxBytes = MAX_BYTES } = input
  mkdirSync(into, { recursive: true })
  // Names of the other side never become names on our disk.
  const file = join(
    into,
    `${createHash('sha256').update(location).digest('hex').slice(0, 24)}.feed`,
  )
  const part = `${file}.${randomUUID()}.part`
  const timeout = input.timeoutMs ?? TIMEOUT
  const deadline = deadlineIn(timeout, input.signal)
  try {
    const response = await get(input, deadline.signal)
    const bytes = await save(response, part, maxBytes)
    renameSync(part, file)
    const made = Date.parse(response.headers['last-modified'] ?? '')
    return { file, asOf: Number.isNaN(made) ? now : Math.min(made, now), bytes }
  } catch (error) {
    if (!deadline.signal.aborted) throw error
    throw new Error(
      input.signal?.aborted
        ? 'the download was stopped'
        : `it took longer than ${timeout / SECOND} seconds`,
      { cause: error },
    )
  } finally {
    deadline.clear()
    rmSync(part, { force: true })
  }
}

/**
 * The response to a GET, status 200; a redirect is an error, since it leads where nobody allowed it
 * to.
 */
function get(
  { location, headers, allowPrivate = false }: FetchInput,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const url = new URL(location)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Without a name there is no lookup to check the address in.
  if (!allowPrivate && isIP(host) && isPrivate(host)) throw new Error(privateMessage(host))
  const auth =
    url.username || url.password
      ? `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
      : undefined
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      auth,
      signal,
      agent: false,
      headers: {
        accept: '*/*',
        'accept-encoding': 'identity',
        'user-agent': 'quartermaster',
        ...headers,
      },
      ...(allowPrivate ? {} : { lookup: publicLookup }),
    })
    request.on('error', reject)
    // A distributor that hangs must not keep the others waiting for as long as an honest download
    // may take.
    request.setTimeout(STALL, () =>
      request.destroy(new Error(`the server sent nothing for ${STALL / SECOND} seconds`)),
    )
    request.on('response', (response) => {
      const { statusCode = 0 } = response
      if (statusCode === 200) return resolve(response)
      response.destroy()
      reject(
        new Error(
          statusCode >= 300 && statusCode < 400
            ? `the server redirects (${statusCode}) to ` +
                `${redirectTarget(url, response.headers.location)}; ` +
                'set that as the location if it is right'
            : `the server answered ${statusCode}`,
        ),
      )
    })
    request.end()
  })
}

/** Where a redirect leads, without its secrets. */
function redirectTarget(from: URL, location: string | undefined): string {
  return location !== undefined && URL.canParse(location, from.href)
    ? redact(new URL(location, from).href)
    : 'nowhere'
}

/**
 * Writes the body to disk and returns its size. A connection that ends early is an error, never a
 * short file.
 */
async function save(response: IncomingMessage, part: string, maxBytes: number): Promise<number> {
  const announced =
    response.headers['content-length'] === undefined
      ? null
      : Number(response.headers['content-length'])
  const handle = await open(part, 'wx')
  let bytes = 0
  try {
    if (announced !== null && announced > maxBytes)
      throw new Error(`the file is larger than ${maxBytes} bytes`)
    for await (const piece of response as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > maxBytes) throw new Error(`the file is larger than ${maxBytes} bytes`)
      await handle.writeFile(piece)
    }
  } catch (error) {
    if (codeOf(error) === 'ECONNRESET') throw new Error(cutOff(bytes, announced), { cause: error })
    throw error
  } finally {
    response.destroy()
    await handle.close()
  }
  if (!response.complete || (announced !== null && announced !== bytes))
    throw new Error(cutOff(bytes, announced))
  return bytes
}

function cutOff(bytes: number, announced: number | null): string {
  return `the download was cut off after ${bytes}${announced === null ? '' : ` of ${announced}`} bytes`
}

/** Why a private address is not asked. */
export function privateMessage(address: string): string {
  return `${address} is a private or local address; set the source with --allow-private if that is meant`
}

/**
 * Checks the addresses that a name leads to, not the name: what is connected to is what was
 * checked.
 */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    const refused = addresses.find(({ address }) => isPrivate(address))
    const [first] = addresses
    if (refused || !first)
      return callback(
        new Error(refused ? privateMessage(refused.address) : `${hostname} has no address`),
        '',
      )
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}

/** Why a location could not be opened, in plain words where the code is known. */
export function causeOf(error: unknown): string {
  const known: Record<string, string> = {
    ENOENT: 'there is no such file',
    EACCES: 'the file may not be read',
    ENOTFOUND: 'the name of the server is not known',
    EAI_AGAIN: 'the name of the server cannot be looked up at the moment',
    ECONNREFUSED: 'the server refuses the connection',
    ECONNRESET: 'the server broke the connection',
  }
  return known[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
}
