/**
 * A throwaway app for tests, exported as `quartermaster/testing`: real files, a clock that the test
 * moves, the library and HTTP side by side. Every answer is held against the document at
 * /v1/openapi.json.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findSubscriber } from '../../lib/accounts/subscribers.js'
import type { Tier } from '../../lib/db/tables/accounts.js'
import type {
  ConfigurationDocument,
  DistributorEntry,
} from '../../lib/configuration/document/document.js'
import { saveDocument } from '../../lib/configuration/saved-documents.js'
import { RemoteError, connect } from '../../lib/connect.js'
import { isApiError } from '../../lib/core/errors.js'
import { filesIn } from '../../lib/db/sqlite/folder.js'
import { openFile } from '../../lib/db/sqlite/sqlite.js'
import { allEndpoints } from '../../lib/app/endpoints.js'
import { open } from '../../lib/app/open.js'
import type { App } from '../../lib/app/open.js'
import { writeOffers } from '../../lib/feeds/ingest/write-offers.js'
import type { WrittenOffer } from '../../lib/feeds/ingest/write-offers.js'
import { stateSet } from '../../lib/places/state-set.js'
import { makeShop } from '../../lib/app/shop.js'
import type { Shop } from '../../lib/app/shop.js'
import { createServer } from '../http/app.js'
import type { Server, ServerOptions } from '../http/app.js'
import { checkAnswer, checkCode, checkPayload } from './check-answer.js'
import { openForTest } from './open.js'
import type { WatchedApp, WatchedOptions } from './open.js'
import { present } from '../../lib/core/present.js'

export interface TestApp {
  app: App
  server: Server
  /** The subscriber that the key belongs to. */
  subscriber: string
  key: string
  keyId: string
  /** The shop through the library. */
  shop: Shop
  /** The same shop through HTTP. */
  remote: Shop
  /** The clock: 2026-11-21T12:00:00Z at first. */
  clock: { ms: number; advance(ms: number): void }
  /** One HTTP request from 127.0.0.1 with the key; both can be overridden. */
  request(
    path: string,
    init?: RequestInit & { key?: string | null; address?: string },
  ): Promise<Response>
  /** As `request`, with the status and the parsed body. */
  json(
    path: string,
    init?: RequestInit & { key?: string | null; address?: string },
  ): Promise<{ status: number; headers: Headers; body: Answer }>
  /** Puts offers into the catalog as one feed would, and waits for the snapshot. */
  stock(offers: readonly TestOffer[]): Promise<void>
  /** Saves a document as it is: no schema, nobody asked. */
  save(subscriber: string, document: ConfigurationDocument): Promise<void>
  /** Saves a document made of these parts, as it is; its distributors count as validated. */
  configure(
    parts: Partial<Omit<ConfigurationDocument, 'distributors'>> & {
      distributors?: Record<string, Partial<DistributorEntry> & { distid: string }>
    },
  ): Promise<void>
  /** Errors that the test provokes in the log, by message, as the option of that name. */
  expectErrors(...lines: RegExp[]): void
  /**
   * Puts everything away. Fails where an error was logged that the test did not expect, or one that
   * it expected was not.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

// The shape of an answer is what the tests look into.
// oxlint-disable-next-line no-explicit-any
export type Answer = any

export type TestOffer = Partial<Omit<WrittenOffer, 'restrictedStates'>> & {
  distid: string
  stockid: string
  /** Two letters each: where the distributor does not ship it to. */
  restrictedStates?: readonly string[]
}

export interface TestOptions extends Omit<WatchedOptions, 'dir' | 'now'> {
  tier?: Tier
  ips?: string[]
  server?: ServerOptions
}

const START = Date.UTC(2026, 10, 21, 12)
let template: Promise<string> | undefined

function scratch(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}

/**
 * A migrated, closed folder that fresh apps are copied from: about a millisecond instead of thirty.
 */
async function makeTemplate(): Promise<string> {
  const dir = mkdtempSync(join(scratch(), 'qm-template-'))
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
  await (await open({ dir, worker: false })).close()
  return dir
}

/** Opens a fresh app with one subscriber and one key. */
export async function createTestApp(options: TestOptions = {}): Promise<TestApp> {
  const { tier = 'enterprise', ips = ['127.0.0.1', '::1'], server: serverOptions } = options
  const { app, dir, clock } = await openScratch(options)
  const server = createServer(app, serverOptions)
  const { name: subscriber } = await app.operator.subscribers.create({
    name: 'Test shop',
    email: 'owner@shop.example',
  })
  const { id: keyId, key } = await app.operator.keys.create({
    subscriber,
    name: 'test key',
    tier,
    ips,
  })
  const close = async () => {
    await app.close().finally(() => rmSync(dir, { recursive: true, force: true }))
  }
  return {
    app,
    server,
    subscriber,
    key,
    keyId,
    clock,
    close,
    expectErrors: app.expectErrors,
    shop: checkedShop(app, app.as({ key })),
    ...overHttp(app, server, key),
    ...preparing(app, subscriber, clock),
    [Symbol.asyncDispose]: close,
  }
}

/** A fresh folder with an app over it, and its clock. */
async function openScratch({
  monotonic,
  tier: _tier,
  ips: _ips,
  server: _server,
  ...options
}: TestOptions): Promise<{ app: WatchedApp; dir: string; clock: TestApp['clock'] }> {
  const dir = mkdtempSync(join(scratch(), 'qm-test-'))
  // The folder of a node has no record.
  if (options.database === undefined)
    cpSync(await (template ??= makeTemplate()), dir, { recursive: true })
  const clock = {
    ms: START,
    advance(ms: number) {
      clock.ms += ms
    },
  }
  const app = await openForTest({
    worker: false,
    fatal: (error) => {
      throw error
    },
    ...options,
    // The folder lies in memory, which may be small.
    faults: { freeBytes: () => Infinity, ...options.faults },
    dir,
    now: () => clock.ms,
    monotonic: monotonic ?? (() => clock.ms - START),
  })
  return { app, dir, clock }
}

/** Calls over HTTP with the key; every answer is held against the document. */
function overHttp(
  app: App,
  server: Server,
  key: string,
): Pick<TestApp, 'request' | 'json' | 'remote'> {
  const send = async (request: Request, address: string): Promise<Response> => {
    const response = await server.fetch(request, { address })
    await checkAnswer(app, request, response.clone())
    return response
  }
  const request: TestApp['request'] = (
    path,
    { key: given, address = '127.0.0.1', ...init } = {},
  ) => {
    const headers = new Headers(init.headers)
    if (given !== null) headers.set('x-api-key', given ?? key)
    return send(
      new Request(new URL(path, 'http://shop.test'), {
        ...init,
        headers,
        ...(init.body ? { duplex: 'half' } : {}),
      } as RequestInit),
      address,
    )
  }
  return {
    request,
    json: async (path, init) => {
      const response = await request(path, init)
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as Answer,
      }
    },
    // One attempt: a refusal that a test provokes comes at once.
    remote: connect('http://shop.test', key, {
      attempts: 1,
      fetch: (sent) => send(sent, '127.0.0.1').catch(showFault),
    }),
  }
}

/** What a test has before it calls: offers, and a configuration. */
function preparing(
  app: App,
  subscriber: string,
  clock: TestApp['clock'],
): Pick<TestApp, 'stock' | 'save' | 'configure'> {
  const save: TestApp['save'] = async (shop, document) => {
    await saveDocument(app.ctx, await findSubscriber(app.ctx, shop), { document })
  }
  return {
    save,
    async stock(offers) {
      const catalog = openFile(filesIn(app.dir).catalog, { synchronous: 'NORMAL' })
      try {
        writeOffers(catalog, offers.map(testOffer), clock.ms)
      } finally {
        catalog.close()
      }
      await app.ctx.catalog.refresh()
    },
    async configure({ distributors = {}, ...parts }) {
      const entries = Object.entries(distributors).map(([name, entry]) => [
        name,
        { ...PLAIN_ENTRY, ...entry },
      ])
      await save(subscriber, {
        ...EMPTY,
        ...parts,
        distributors: Object.fromEntries(entries) as ConfigurationDocument['distributors'],
      })
      for (const name of Object.keys(distributors))
        await app.operator.configurations.recordCheck(subscriber, name, true)
    },
  }
}

const EMPTY = {
  targets: {},
  notification_email: 'owner@shop.example',
  pricing: {},
  product_restrictions: {},
}
const PLAIN_ENTRY = {
  active: true,
  drop_ship_only_items: false,
  shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
  product_restrictions: { min_quantity_to_list: 1 },
}

/**
 * Keeps the words of a failed check: of any other error of a fetch the client tells no more than
 * that no answer came.
 */
function showFault(error: unknown): never {
  throw new RemoteError({
    code: 'failed_check',
    outcome: 'unknown',
    message: error instanceof Error ? error.message : String(error),
  })
}

function testOffer({ restrictedStates: states, ...offer }: TestOffer): WrittenOffer {
  return {
    distsku: offer.stockid,
    upc: null,
    name: `Item ${offer.stockid}`,
    mfgName: null,
    mpn: null,
    productClass: 'AC',
    itemCat: null,
    categoryId: null,
    categoryName: 'Uncategorized',
    price: 1_000,
    map: null,
    msrp: null,
    shipping: null,
    qty: 10,
    fflReq: false,
    dropShip: true,
    images: [],
    productUrl: null,
    shortDescription: null,
    description: null,
    attributes: {},
    ...(states && { restrictedStates: stateSet(states) }),
    ...offer,
  }
}

function checkedShop(app: App, shop: Shop): Shop {
  return makeShop(async (id, input) => {
    const endpoint = present(
      allEndpoints.find((candidate) => candidate.id === id),
      id,
    )
    const [head, tail] = id.split('.') as [keyof Shop, string | undefined]
    const call = (tail === undefined ? shop[head] : (shop[head] as never)[tail]) as (
      input: unknown,
    ) => Promise<unknown>
    try {
      const payload = await call(input)
      checkPayload(app, endpoint, payload)
      return payload
    } catch (error) {
      if (isApiError(error)) checkCode(endpoint, error.code)
      throw error
    }
  })
}
