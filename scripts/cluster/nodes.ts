/** Three nodes, each a process with a way to the database of its own, and what is done to them. */
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../lib/core/async/wait.js'
import { startProxy } from '../../test/harness/tcp-proxy.js'
import type { TcpProxy } from '../../test/harness/tcp-proxy.js'
import { makeFolder } from './ground.js'
import type { Ground } from './ground.js'

export class ClusterNode {
  readonly name: string
  readonly #ground: Ground
  readonly dir: string
  readonly proxy: TcpProxy
  readonly log: string
  #child: ChildProcess | undefined
  /** Null while it does not answer. */
  url: string | null = null
  isFrozen = false

  private constructor(ground: Ground, name: string, proxy: TcpProxy) {
    this.#ground = ground
    this.name = name
    this.proxy = proxy
    this.dir = makeFolder(ground, name)
    this.log = join(ground.root, `${name}.log`)
  }

  static async open(ground: Ground, name: string): Promise<ClusterNode> {
    return new ClusterNode(ground, name, await startProxy(ground.server.port))
  }

  get isAlive(): boolean {
    return this.#child !== undefined && !this.isFrozen
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  async start(): Promise<void> {
    const { life, program, server } = this.#ground
    const child = fork(program, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    child.stderr!.pipe(createWriteStream(this.log, { flags: 'a' }))
    this.#child = child
    child.on('exit', () => {
      if (this.#child !== child) return
      this.#child = undefined
      this.url = null
    })
    child.on('message', ({ url }: { url: string }) => {
      if (this.#child === child) this.url = url
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
    // From here on it owes nobody an answer.
    this.url = null
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
    this.isFrozen = false
  }

  freeze(): void {
    this.isFrozen = this.#child?.kill('SIGSTOP') ?? false
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
    this.isFrozen = false
  }

  async end(): Promise<void> {
    const child = this.#child
    if (child) {
      const gone = once(child, 'exit')
      child.send('end')
      await Promise.race([gone, pause(20_000).then(() => child.kill('SIGKILL'))])
      await gone
    }
    await this.proxy.close()
  }
}
