/** Three nodes, each a process with a way to the database of its own, and what is done to them. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { startProxy } from '../../test/harness/tcp-proxy.js'
import type { TcpProxy } from '../../test/harness/tcp-proxy.js'
import { makeFolder } from './ground.js'
import type { Ground } from './ground.js'

/** What a node tells. */
interface Said {
  url?: string
  isReady?: true
  /** Of a pull. */
  outcome?: string
}

/** Milliseconds after which a node has its connections again. */
const RECOVERS = 5 * SECOND

export class ClusterNode {
  readonly name: string
  readonly #ground: Ground
  readonly dir: string
  readonly proxy: TcpProxy
  readonly log: string
  #program: string
  #child: ChildProcess | undefined
  /** Null while it does not answer. */
  url: string | null = null
  /** Of the life that was ended to be replaced. */
  #lastUrl: string | null = null
  /** As `/readyz` tells a balancer: it has all that it answers from. */
  isReady = false
  isFrozen = false
  #readyAt = -Infinity
  #thawedAt = -Infinity
  #cutAt = -Infinity
  /** When something was done to it last, and what. */
  #last = { at: -Infinity, what: '' }

  private constructor(ground: Ground, name: string, proxy: TcpProxy) {
    this.#ground = ground
    this.#program = ground.program
    this.name = name
    this.proxy = proxy
    this.dir = makeFolder(ground, name)
    this.log = join(ground.root, `${name}.log`)
  }

  static async open(ground: Ground, name: string): Promise<ClusterNode> {
    return new ClusterNode(ground, name, await startProxy(ground.server.port))
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Its connections to the database are lost or silent, or were a moment ago. */
  get isCutOff(): boolean {
    return this.proxy.isStalled || performance.now() - this.#cutAt < RECOVERS
  }

  /** Since when nothing keeps it from leading, by the steady clock; null where something does. */
  get fitSince(): number | null {
    if (!this.isReady || this.isFrozen || this.proxy.isStalled) return null
    return Math.max(this.#readyAt, this.#thawedAt, this.#cutAt)
  }

  /** Whether it has stood still since then. */
  hasFrozen(since: number): boolean {
    return this.isFrozen || this.#thawedAt >= since
  }

  /** From here on it owes nobody an answer. */
  #isGone(): void {
    this.url = null
    this.isReady = false
  }

  /** What was done to it last, and how many seconds ago. */
  trouble(): string {
    const { at, what } = this.#last
    return what === ''
      ? 'never disturbed'
      : `${what} ${Math.floor((performance.now() - at) / SECOND)} s ago`
  }

  #note(what: string): void {
    this.#last = { at: performance.now(), what }
  }

  async start(): Promise<void> {
    this.#note('started')
    const { life, server } = this.#ground
    const child = fork(this.#program, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    child.stderr!.pipe(createWriteStream(this.log, { flags: 'a' }))
    this.#child = child
    child.on('exit', () => {
      if (this.#child !== child) return
      this.#child = undefined
      this.#isGone()
    })
    child.on('message', ({ url, isReady, outcome }: Said) => {
      if (this.#child !== child) return
      if (url !== undefined) this.url = url
      if (isReady) {
        this.isReady = true
        this.#readyAt = performance.now()
      }
      if (outcome !== undefined) this.#ground.pulls.push(outcome)
    })
    child.send({
      ...life,
      dir: this.dir,
      database: life.database.replace(`:${server.port}/`, `:${this.proxy.port}/`),
    })
  }

  /** Starts it until it answers: it ends by itself where its database is away. */
  async keepStarted(): Promise<void> {
    while (this.url === null) {
      if (!this.#child) await this.start()
      await pause(50)
    }
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#isGone()
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    this.isFrozen = false
  }

  /**
   * Ends it as its operator does, and has another program go on in its folder; resolves once that
   * is ready. What it had begun to answer it owes all the same.
   */
  async replace(program: string): Promise<void> {
    this.#note('replaced')
    this.#lastUrl = this.url
    this.#isGone()
    await this.#stop()
    this.#program = program
    await this.keepStarted()
    while (!this.isReady) await pause(50)
  }

  /**
   * Whether it has to answer what was asked at that address, and was answered so. One that is
   * replaced takes no more connections: a balancer asks the next one.
   */
  owes(url: string, said: string): boolean {
    return this.url === url || (this.#lastUrl === url && !/ECONNREFUSED|ECONNRESET/.test(said))
  }

  async #stop(): Promise<void> {
    const child = this.#child
    if (!child) return
    const gone = once(child, 'exit')
    child.send('end')
    const late = setTimeout(() => child.kill('SIGKILL'), 40_000)
    await gone
    clearTimeout(late)
  }

  /** Ends its connections to the database. */
  cut(): void {
    this.#note('cut off')
    this.#cutAt = performance.now()
    this.proxy.cutAll()
  }

  /** While it is so, nothing moves between it and the database. */
  stall(): void {
    this.#note('stalled')
    this.proxy.isStalled = true
  }

  /** What was swallowed comes no more. */
  goOn(): void {
    this.proxy.isStalled = false
    this.cut()
  }

  /** Has it take the feed in, if it leads. */
  pull(): void {
    if (this.url !== null && this.#child?.connected) this.#child.send('pull', () => {})
  }

  freeze(): void {
    this.isFrozen = this.#child?.kill('SIGSTOP') ?? false
  }

  thaw(): void {
    if (this.isFrozen) {
      this.#note('thawed')
      this.#thawedAt = performance.now()
    }
    this.#child?.kill('SIGCONT')
    this.isFrozen = false
  }

  async end(): Promise<void> {
    await this.#stop()
    await this.proxy.close()
  }
}
