/**
 * `quartermaster/client`: the library's functions over HTTP, the same type as `app.as(...)`, from
 * nothing but the route table and fetch.
 */
import { callRemote } from './client/call.js'
import { networkOf } from './client/network.js'
import type { NetworkOptions } from './client/network.js'
import { keepHeaders } from './core/endpoint/result-headers.js'
import { makeShop } from './app/shop.js'
import type { Shop } from './app/shop.js'

export { downloadCatalog } from './client/download.js'
export type { DownloadOptions, DownloadedCatalog, Progress, Target } from './client/download.js'
export { eachOffer, eachOrder } from './client/pages.js'
export type { OfferQuery, OrderQuery } from './client/pages.js'
export { RemoteError } from './client/remote-error.js'
export type { Outcome } from './client/remote-error.js'
export { etagOf } from './core/endpoint/result-headers.js'
export type { Shop } from './app/shop.js'

export type ConnectOptions = NetworkOptions

/**
 * The functions of a server at `url` (a path in front of `/v1` is kept) for the holder of `key`. It
 * sends nothing yet and holds nothing but its options, so one may be made for each request, with a
 * signal of its own.
 *
 * Calls reject with RemoteError. Reads (GET) are tried up to `attempts` times: after a failure on
 * the way, a 429, and a 500, 502, 503 or 504, never before `Retry-After`. What writes (POST, PUT,
 * DELETE) is sent once, whatever happens: `outcome` of the error says what is known of it.
 * Redirects are refused, so the key goes to that server alone.
 *
 * Throws a TypeError for what is not an address of a server or no key, without repeating it, and
 * for an option that there is not.
 */
export function connect(url: string, key: string, options: ConnectOptions = {}): Shop {
  const [base, secret, network] = [baseOf(url), keyOf(key), networkOf(options, 'connect')]
  return makeShop(async (id, input) => {
    const { payload, etag } = await callRemote(network, { base, key: secret }, id, input)
    return keepHeaders(payload, etag === null ? undefined : { etag })
  })
}

/**
 * An address without a slash at its end. One with a password in it is refused by fetch, in words
 * that show it.
 */
function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (!parsed || !/^https?:$/.test(parsed.protocol))
    throw new TypeError(
      'the url must be the address of a server, as https://shop.example or ' +
        'https://shop.example/path',
    )
  if (
    parsed.username !== '' ||
    parsed.password !== '' ||
    parsed.search !== '' ||
    parsed.hash !== ''
  )
    throw new TypeError('the url must have no user, password, query or fragment')
  return parsed.href.replace(/\/+$/, '')
}

/**
 * A key as it stood in a file or a variable; what no header can hold would be shown by the error of
 * fetch.
 */
function keyOf(key: unknown): string {
  const text = typeof key === 'string' ? key.trim() : ''
  if (!/^[\x21-\x7e]+$/.test(text))
    throw new TypeError(
      'the key must be a text of letters and digits; it is missing or holds other characters',
    )
  return text
}
