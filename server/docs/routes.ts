/**
 * Addresses that need no key and are never counted (contract "Authentication" 1).
 */
import type { Registry } from '../../lib/distributors/registry.js'
import { ApiError } from '../../lib/core/errors.js'
import type { App } from '../../lib/app/open.js'
import { baseHeaders } from '../http/handle.js'
import type { Incoming } from '../http/handle.js'
import { ignoredHeader } from '../http/unknown-parameters.js'
import { openApiDocument } from '../openapi/document.js'
import { refuse } from '../http/refusal.js'
import type { Reply } from '../http/reply.js'
import { makeDocument, sendDocument } from './document.js'
import type { Document } from './document.js'
import { findFolders, readAssets } from './files.js'
import type { Asset, Folders } from './files.js'
import { guidePage, readPage } from './guide.js'
import {
  ASSET_HEADERS,
  JSON_HEADERS,
  MARKDOWN_HEADERS,
  PAGE_HEADERS,
  TEXT_HEADERS,
} from './html.js'
import { llmsFull, llmsIndex } from './llms.js'
import { PAGES, addressOf, markdownAddressOf } from './pages.js'
import { referencePage } from './reference/page.js'
import { searchIndex } from './search.js'

export interface DocumentationRoute {
  path: string
  /** Null where there is nothing at the address. */
  handler: (incoming: Incoming) => Promise<Reply | null>
}

/** What is at one route; null where there is nothing at the address. */
type Find = (incoming: Incoming) => Promise<Document | null>

/**
 * The documentation routes. Nothing is read or rendered before it is asked for, and each document
 * once.
 */
export function documentationRoutes(app: App): DocumentationRoute[] {
  return Object.entries({ '/v1/openapi.json': openApi(app), ...pages(app.ctx.distributors) }).map(
    ([path, find]) => ({
      path,
      async handler(incoming) {
        const base = {
          ...baseHeaders(app, incoming.request),
          ...ignoredHeader(incoming.search(), () => false),
        }
        try {
          const document = await find(incoming)
          return document && sendDocument(document, incoming.request, base)
        } catch (error) {
          return refuse(app, error, base, incoming.request)
        }
      },
    }),
  )
}

/**
 * Leads a person who typed the server's address into a browser to the guide; null for programs,
 * which the contract answers. Relative: behind a proxy the API may lie below a path.
 */
export function welcome(app: App, { request }: Incoming): Reply | null {
  const isBrowser = /\btext\/html\b/i.test(request.headers.get('accept') ?? '')
  if (!isBrowser || request.headers.has('x-api-key')) return null
  return {
    status: 302,
    headers: { ...baseHeaders(app, request), location: 'v1/docs/guide', vary: 'accept' },
    body: '',
  }
}

/**
 * Any other method than GET and HEAD, at an address of the documentation: 405 without a key.
 */
export function makeMethodRefusal(app: App): (incoming: Incoming) => Promise<Reply> {
  return ({ request, path }) =>
    refuse(
      app,
      new ApiError('method_not_allowed', {
        message: `${path} takes GET, HEAD.`,
        headers: { allow: 'GET, HEAD' },
      }),
      baseHeaders(app, request),
      request,
    )
}

/**
 * The origin is what the caller wrote into Host: a few are kept, so that nobody can fill the
 * memory.
 */
const MOST_ORIGINS = 16

/**
 * Stands for the origin in the document that is built once: building one takes ten times what
 * naming another origin in it does.
 */
const ANY_ORIGIN = 'http://origin.invalid'

function openApi(app: App): Find {
  const kept = keeper<string, Document>(MOST_ORIGINS)
  const textFor = (url: string) => JSON.stringify(openApiDocument(url, app.ctx.distributors))
  let text: string | undefined
  return ({ request }) => {
    const origin = app.publicUrl ?? originOf(request)
    // A quote in Host is a quote in the origin.
    const written = JSON.stringify(origin).slice(1, -1)
    return kept(origin, () =>
      makeDocument(
        origin === '/'
          ? textFor(origin)
          : (text ??= textFor(ANY_ORIGIN)).replaceAll(ANY_ORIGIN, () => written),
        JSON_HEADERS,
      ),
    )
  }
}

/** The address that the caller used; relative where its Host makes none. */
function originOf(request: Request): string {
  try {
    const { hostname, origin } = new URL(request.url)
    // So the framework names a Host that can be none.
    return hostname === '_invalid_' ? '/' : origin
  } catch {
    return '/'
  }
}

/** Files that are read once. */
interface Files {
  folders: Folders
  assets: ReadonlyMap<string, Asset>
  /** The same assets by their addresses: nothing but what is in here is ever sent. */
  byAddress: ReadonlyMap<string, Asset>
}

function pages(registry: Registry): Record<string, Find> {
  const kept = keeper<string, Document>()
  const keptFiles = keeper<'files', Files>()
  const files = () =>
    keptFiles('files', async () => {
      const folders = findFolders()
      const assets = await readAssets(folders)
      return {
        folders,
        assets,
        byAddress: new Map([...assets.values()].map((asset) => [asset.address, asset])),
      }
    })
  const once =
    (make: (files: Files) => Promise<string>, headers: Record<string, string>): Find =>
    ({ path }) =>
      kept(path, async () => makeDocument(await make(await files()), headers))
  return {
    '/v1/docs': once(async ({ assets }) => referencePage(registry, assets), PAGE_HEADERS),
    ...Object.fromEntries(
      PAGES.map((page) => [
        addressOf(page),
        once(({ folders, assets }) => guidePage(page, folders.guide, assets), PAGE_HEADERS),
      ]),
    ),
    ...Object.fromEntries(
      PAGES.map((page) => [
        markdownAddressOf(page),
        once(({ folders }) => readPage(folders.guide, page), MARKDOWN_HEADERS),
      ]),
    ),
    '/v1/llms.txt': once(async () => llmsIndex(), TEXT_HEADERS),
    '/docs/llms-full.txt': once(({ folders }) => llmsFull(registry, folders.guide), TEXT_HEADERS),
    '/docs/search.json': once(({ folders }) => searchIndex(registry, folders.guide), {
      ...TEXT_HEADERS,
      'content-type': 'application/json; charset=utf-8',
    }),
    async '/docs/assets/{name}'({ path }) {
      const asset = (await files()).byAddress.get(path)
      return asset
        ? kept(path, () =>
            makeDocument(asset.body, { ...ASSET_HEADERS, 'content-type': asset.type }),
          )
        : null
    },
  }
}

/** Makes each thing once, and again where that failed; at most `most` are kept. */
function keeper<K, T>(most = Infinity): (name: K, make: () => Promise<T>) => Promise<T> {
  const made = new Map<K, Promise<T>>()
  return (name, make) => {
    const known = made.get(name)
    if (known) return known
    if (made.size >= most) made.clear()
    const making = make()
    made.set(name, making)
    making.catch(() => made.delete(name))
    return making
  }
}
