/**
 * One epoch: a fresh copy of the shop, so many requests out of one seed, and a look at the shop's
 * state afterwards. The same seed makes the same requests in the same order, so an epoch is also
 * how a failure is seen again.
 */
import * as fc from 'fast-check'
import { HOUR, MINUTE, SECOND } from '../../lib/core/clock.js'
import { createServer } from '../../server/http/app.js'
import { tellStrays } from '../../server/testing/error-watch.js'
import { listen } from '../../server/http/listen.js'
import type { App } from '../../lib/app/open.js'
import { makeCalls } from './calls.js'
import { curlOf } from './curl.js'
import type { ApiDocument, Operation } from './document.js'
import { makeFaults } from './faults.js'
import { makeJudge } from './judge.js'
import type { Answer, Finding } from './judge.js'
import { planOf } from './plan.js'
import type { Plan } from './plan.js'
import { START, copyOf, openFolder } from './shop.js'
import type { Caller, Template } from './shop.js'
import { bytesOf, exchange, parseAnswer, rawRequests } from './socket.js'
import type { RawRequest } from './socket.js'
import { callerOf, makeTransport } from './transport.js'
import { stateFaults } from './state.js'

export interface Failure extends Finding {
  seed: number
  /** Which request of the epoch it was. */
  at: number
  /** The shrunk request. */
  curl: string
  what: string
  times: number
}

export interface Slowest {
  what: string
  /** Milliseconds of the processor, and of the clock. */
  cpu: number
  wall: number
}

export interface EpochResult {
  requests: number
  overSocket: number
  failures: Failure[]
  slowest: Slowest[]
  /** Answers by operation and what they were. */
  answers: Record<string, Record<string, number>>
  orders: number
  seconds: number
}

export interface EpochOptions {
  template: Template
  seed: number
  requests: number
  /** Of a hundred requests, those that go over a socket. */
  socketShare?: number
  /** Ends soon after the first failure. */
  stopAtFirst?: boolean
  onProgress?: (done: number) => void
}

/** Milliseconds of the shop's clock from one request to the next: no minute's limit binds. */
const STEP = 2 * SECOND
/** Requests of one run of properties, and how often one is tried again to make it smaller. */
const BATCH = 250
const SHRINKS = 300
/** Milliseconds of processor time that no answer takes, and of waiting. */
const SLOW = 250
const STUCK = 10 * SLOW
/** Of a standard key, by the contract. */
const PER_MINUTE = 60
const REPEATS = 5

/**
 * Lines of level error that requests and playing distributors are meant to bring about. Any other
 * is a failure.
 */
const EXPECTED: readonly RegExp[] = [
  // Distributors that tell too little of what they have.
  /^an order needs a person's decision: /,
]

/** Milliseconds below which nobody asks what the processor did. */
const WORTH_A_LOOK = 20

/**
 * Asking the system costs a tenth of a request, so that an answer of ten milliseconds ago is good
 * enough.
 */
function makeProcessorClock(): () => number {
  let [askedAt, told] = [-Infinity, 0]
  return () => {
    if (performance.now() - askedAt < 10) return told
    const { user, system } = process.cpuUsage()
    askedAt = performance.now()
    return (told = (user + system) / 1_000)
  }
}

type Item = { plan: Plan } | { raw: RawRequest }

/** Runs an epoch. Leaves nothing behind. */
export async function runEpoch({
  template,
  seed,
  requests,
  socketShare = 2,
  stopAtFirst = false,
  onProgress,
}: EpochOptions): Promise<EpochResult> {
  const begun = performance.now()
  const { dir, remove } = copyOf(template)
  const clock = { ms: START + HOUR }
  const strays = new Map<string, number>()
  const log = tellStrays(EXPECTED, (text) => void strays.set(text, (strays.get(text) ?? 0) + 1))
  const app = await openFolder(dir, clock, String(seed), { log })
  try {
    const world = await openWorld(app, dir, clock, template, seed)
    const item = items(world.api, template, socketShare)
    let batch = 0
    while (world.sent < requests && !(stopAtFirst && world.failures.size > 0)) {
      await world.runBatch(item, Math.min(BATCH, requests - world.sent), batch++)
      await app.orders.pass()
      if (batch % 16 === 0) await app.monitors.pass()
      if (batch % 20 === 1) await world.burst()
      onProgress?.(world.sent)
    }
    await world.close()
    for (const [text, times] of strays)
      world.note(
        { rule: 'log', sign: `error in the log: ${text}`, detail: `${times} times` },
        'what was logged',
        '',
      )
    for (const finding of await stateFaults(app, clock))
      world.note(finding, 'the state afterwards', '')
    return {
      requests: world.sent,
      overSocket: world.overSocket,
      failures: [...world.failures.values()],
      slowest: world.slowest,
      answers: world.answers,
      orders: world.orders,
      seconds: (performance.now() - begun) / 1_000,
    }
  } finally {
    await app.close()
    remove()
  }
}

/** Valid calls, calls with one thing wrong, and what is wrong with the request around a call. */
function items(
  api: ApiDocument,
  template: Template,
  socketShare: number,
): fc.Arbitrary<{ item: Item; overSocket: boolean }> {
  const calls = makeCalls(api, template)
  const faults = makeFaults(api, calls)
  const weighted = <T>(
    of: (operation: Operation) => fc.Arbitrary<T>,
    weights: Record<string, number>,
  ) =>
    fc.oneof(
      ...api.operations.map((operation) => ({
        weight: weights[operation.id] ?? 10,
        arbitrary: of(operation),
      })),
    )
  const valid = fc.tuple(weighted(calls, VALID_WEIGHTS), fc.nat(99)).map(([call, chance]): Plan =>
    planOf(call, {
      what: 'a valid call',
      sort: 'valid',
      caller: otherCaller(call.operation, chance),
      expect: { kind: 'valid' },
    }),
  )
  const faulty = weighted(faults, FAULT_WEIGHTS).map(({ what, sort, call, expect }): Plan =>
    planOf(call, { what, sort, caller: callerOf(call.operation), expect }),
  )
  const plan = fc
    .oneof(
      { weight: 8, arbitrary: valid },
      { weight: 9, arbitrary: faulty },
      { weight: 3, arbitrary: makeTransport(api, calls) },
    )
    .map((made): Item => ({ plan: made }))
  const raw = rawRequests(template.keys.main[0]!).map((made): Item => ({ raw: made }))
  return fc.oneof(
    {
      weight: 1_000 - socketShare * 10,
      arbitrary: plan.map((item) => ({ item, overSocket: false })),
    },
    { weight: socketShare * 5, arbitrary: plan.map((item) => ({ item, overSocket: true })) },
    { weight: socketShare * 5, arbitrary: raw.map((item) => ({ item, overSocket: true })) },
  )
}

/**
 * Placing an order costs a hundred times a search, and a document's change has every view made
 * anew.
 */
const VALID_WEIGHTS: Record<string, number> = {
  productsSearch: 30,
  ordersPlace: 5,
  configPut: 1,
  configValidate: 1,
  productsCatalog: 3,
  fraudCheck: 6,
  fraudReport: 4,
  fraudRemove: 4,
  openapi: 1,
  docs: 1,
  guide: 1,
  llms: 1,
  configSchema: 1,
  distributors: 3,
}
const FAULT_WEIGHTS: Record<string, number> = {
  productsSearch: 20,
  ordersPlace: 25,
  configPut: 6,
  configValidate: 4,
  openapi: 0,
  docs: 0,
  guide: 0,
  llms: 0,
  ping: 0,
  account: 0,
  usage: 0,
  distributors: 0,
  configGet: 0,
  configSchema: 0,
}

/** Now and then a shop in another state asks. */
function otherCaller(operation: Operation, chance: number): Caller {
  const usual = callerOf(operation)
  if (usual !== 'main' || operation.id.startsWith('fraud') || operation.id === 'ordersPlace')
    return usual
  return chance < 8
    ? 'config'
    : chance < 10
      ? 'empty'
      : chance < 12
        ? 'unvalidated'
        : chance === 12
          ? 'standard'
          : usual
}

interface World {
  api: ApiDocument
  sent: number
  overSocket: number
  orders: number
  failures: Map<string, Failure>
  slowest: Slowest[]
  answers: EpochResult['answers']
  note(finding: Finding, what: string, curl: string): void
  runBatch(
    item: fc.Arbitrary<{ item: Item; overSocket: boolean }>,
    runs: number,
    batch: number,
  ): Promise<void>
  /** Sends more than a minute allows while the clock stands still. */
  burst(): Promise<void>
  close(): Promise<void>
}

async function openWorld(
  app: App,
  dir: string,
  clock: { ms: number },
  template: Template,
  seed: number,
): Promise<World> {
  const server = createServer(app)
  const listening = await listen(server, { port: 0, host: '127.0.0.1' })
  const port = Number(new URL(listening.url).port)
  const judge = makeJudge({ secrets: template.secrets, dir })
  const processor = makeProcessorClock()
  const keyOf = (caller: Caller): string =>
    template.keys[caller][world.sent % template.keys[caller].length]!

  async function inProcess(plan: Plan): Promise<Answer> {
    const headers = new Headers()
    for (const [name, value] of Object.entries(plan.headers)) headers.set(name, latin(value))
    if (plan.caller !== null) headers.set('x-api-key', latin(plan.key ?? keyOf(plan.caller)))
    const body = plan.chunked && plan.body !== null ? new Blob([plan.body]).stream() : plan.body
    const request = new Request(`http://shop.test${plan.target}`, {
      method: plan.method,
      headers,
      body,
      ...(body !== null && { duplex: 'half' }),
    } as RequestInit)
    const response = await server.fetch(request, {
      ...(plan.address !== null && { address: plan.address ?? '127.0.0.1' }),
    })
    return { status: response.status, headers: response.headers, text: await textOf(response) }
  }

  async function overSocket(plan: Plan): Promise<Answer | Finding> {
    // The peer of a socket is what it is; another address is for the process alone.
    if (plan.address !== undefined) return inProcess(plan)
    const bytes = await exchange(
      port,
      bytesOf(plan, plan.caller === null ? null : (plan.key ?? keyOf(plan.caller))),
    )
    if (bytes === 'nothing came')
      return { rule: 'socket', sign: `socket: ${plan.operation?.id} no answer`, detail: plan.what }
    const answer = parseAnswer(bytes)
    if (answer) return answer
    return {
      rule: 'socket',
      sign: `socket: ${plan.operation?.id} no HTTP`,
      detail: bytes.subarray(0, 200).toString(),
    }
  }

  async function sendRaw({ bytes, statuses, ends, what }: RawRequest): Promise<Finding | null> {
    const came = await exchange(port, bytes, { ends, patience: ends ? 300 : 5_000 })
    const sign = what.split(',')[0]!
    if (came === 'nothing came')
      return ends ? null : { rule: 'socket', sign: `socket: ${sign}: no answer`, detail: what }
    const answer = parseAnswer(came)
    if (answer === null)
      return statuses.length === 0
        ? null
        : {
            rule: 'socket',
            sign: `socket: ${sign}: no HTTP`,
            detail: came.toString().slice(0, 200),
          }
    if (answer.status >= 500 && answer.status !== 505 && answer.status !== 501)
      return {
        rule: 'server error',
        sign: `server error: ${sign} ${answer.status}`,
        detail: answer.text.slice(0, 300),
      }
    if (statuses.length > 0 && !statuses.includes(answer.status))
      return {
        rule: 'wrong answer',
        sign: `wrong answer: ${sign} ${answer.status}`,
        detail: answer.text.slice(0, 300),
      }
    const secret = [...template.secrets, dir].find((word) => answer.text.includes(word))
    return secret === undefined ? null : { rule: 'leak', sign: `leak: ${sign}`, detail: secret }
  }

  async function sendPlan(plan: Plan, bySocket: boolean): Promise<Finding | null> {
    const cpu = processor()
    const at = performance.now()
    const answer = await (bySocket ? overSocket(plan) : inProcess(plan))
    const wall = performance.now() - at
    if ('rule' in answer) return answer
    if (wall > WORTH_A_LOOK)
      keepSlowest(world.slowest, {
        what: `${plan.operation?.id ?? plan.target.slice(0, 40)}: ${plan.what.slice(0, 60)}`,
        cpu: processor() - cpu,
        wall,
      })
    count(world, plan, answer)
    const finding = judge(plan, answer)
    if (finding || wall <= SLOW || plan.operation?.id === 'productsCatalog') return finding
    return slowness(plan, bySocket)
  }

  /**
   * A busy machine makes anything slow once; what is slow every time is slow. Where others have the
   * processor the clock runs on, so the processor's time counts; who waits takes none of it.
   */
  async function slowness(plan: Plan, bySocket: boolean): Promise<Finding | null> {
    const best = { cpu: Infinity, wall: Infinity }
    for (let i = 0; i < REPEATS && (best.cpu > SLOW || best.wall > STUCK); i++) {
      const [at, before] = [performance.now(), process.cpuUsage()]
      await (bySocket ? overSocket(plan) : inProcess(plan))
      const { user, system } = process.cpuUsage(before)
      best.wall = Math.min(best.wall, performance.now() - at)
      best.cpu = Math.min(best.cpu, (user + system) / 1_000)
    }
    return best.cpu > SLOW || best.wall > STUCK
      ? {
          rule: 'slow',
          sign: `slow: ${plan.operation?.id} ${plan.sort}`,
          detail: `${Math.round(best.cpu)} ms of processor time and ${Math.round(best.wall)} ms at best`,
        }
      : null
  }

  const send = ({ item, overSocket: bySocket }: { item: Item; overSocket: boolean }) =>
    'raw' in item ? sendRaw(item.raw) : sendPlan(item.plan, bySocket)

  const world: World = {
    api: template.api,
    sent: 0,
    overSocket: 0,
    orders: 0,
    failures: new Map(),
    slowest: [],
    answers: {},
    note(finding, what, curl) {
      const known = world.failures.get(finding.sign)
      if (known) known.times++
      else
        world.failures.set(finding.sign, { ...finding, seed, at: world.sent, what, curl, times: 1 })
    },
    async runBatch(item, runs, batch) {
      let left = runs
      for (let part = 0; left > 0; part++) {
        let [sent, shrinks] = [0, 0]
        let caught: { finding: Finding; what: string; curl: string } | undefined
        await fc.check(
          fc.asyncProperty(item, async (made) => {
            if (caught && ++shrinks > SHRINKS) return
            if (!caught) {
              sent++
              world.sent++
              if (made.overSocket) world.overSocket++
              clock.ms += STEP
            }
            const finding = await send(made)
            if (finding === null) return
            // While it is made smaller, only the same fault counts.
            if (caught ? finding.sign !== caught.finding.sign : world.failures.has(finding.sign))
              return caught ? undefined : world.note(finding, '', '')
            caught = { finding, ...describe(made.item, keyOf) }
            throw new Error(finding.sign)
          }),
          { seed: seed * 1_000_003 + batch * 101 + part, numRuns: left },
        )
        if (caught) world.note(caught.finding, caught.what, caught.curl)
        left -= sent
      }
    },
    async burst() {
      clock.ms += MINUTE
      const ping = template.api.operations.find(({ id }) => id === 'ping')!
      const plan: Plan = {
        what: 'one of 70 at once',
        sort: 'a burst',
        operation: ping,
        method: 'GET',
        target: ping.path,
        headers: {},
        body: null,
        chunked: false,
        caller: 'standard',
        key: template.keys.standard[0]!,
        expect: { kind: 'answer', answers: ['200 null', '429 rate_limited'] },
      }
      let accepted = 0
      for (let i = 0; i < 70; i++) {
        const answer = await inProcess(plan)
        if (answer.status === 200) accepted++
        const finding = judge(plan, answer)
        if (finding) world.note(finding, plan.what, curlOf(plan, plan.key!))
      }
      if (accepted !== PER_MINUTE)
        world.note(
          {
            rule: 'state',
            sign: 'state: the limit of a minute',
            detail: `${accepted} of 70 calls were let through, not ${PER_MINUTE}`,
          },
          plan.what,
          curlOf(plan, plan.key!),
        )
    },
    async close() {
      await listening.close(2_000)
    },
  }
  return world
}

function describe(item: Item, keyOf: (caller: Caller) => string): { what: string; curl: string } {
  if ('raw' in item)
    return {
      what: item.raw.what,
      curl: `printf ${JSON.stringify(item.raw.bytes.toString('latin1').slice(0, 2_000))} | nc 127.0.0.1 PORT`,
    }
  return {
    what: item.plan.what,
    curl: curlOf(
      item.plan,
      item.plan.caller === null ? null : (item.plan.key ?? keyOf(item.plan.caller)),
    ),
  }
}

/** A header's value is bytes; what is above 255 does not exist there. */
function latin(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1')
}

async function textOf(response: Response): Promise<string> {
  if (response.headers.get('content-encoding') !== 'gzip') return response.text()
  return new Response(response.body!.pipeThrough(new DecompressionStream('gzip'))).text()
}

function keepSlowest(slowest: Slowest[], one: Slowest): void {
  if (slowest.length === 10 && one.cpu <= slowest[9]!.cpu) return
  slowest.push(one)
  slowest.sort((a, b) => b.cpu - a.cpu)
  if (slowest.length > 10) slowest.pop()
}

function count(world: World, { operation, expect, sort }: Plan, { status, text }: Answer): void {
  const code = status === 200 ? '200' : `${status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`
  const name = `${operation?.id ?? 'elsewhere'} (${sort === 'valid' ? 'valid' : expect.kind})`
  const of = (world.answers[name] ??= {})
  of[code] = (of[code] ?? 0) + 1
  if (operation?.id === 'ordersPlace' && status === 200) world.orders++
}
