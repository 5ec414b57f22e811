/** Long work off the main thread: building a snapshot, taking in a feed. */
import type { Background } from '../../core/async/background.js'
import { bundledFile, fileBeside } from '../../core/async/beside.js'
import type { Progress } from '../../core/async/progress.js'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import pLimit from 'p-limit'
import type { Log } from '../../core/log.js'
import { makeTasks } from './tasks.js'
import type { Tasks } from './tasks.js'

interface Waiting {
  resolve(value: unknown): void
  reject(error: unknown): void
  onProgress?: Progress | undefined
}

export type FromWorker =
  | { id: number; progress: [number, number, number] }
  | { id: number; result: unknown }
  | { id: number; error: unknown }

/**
 * Starts a worker on first use. `worker` is its file; undefined looks for `worker.mjs` beside this
 * module, false works on the calling thread, which is right for tests and commands that do nothing
 * else.
 */
export function openBackground(options: {
  worker?: string | false | undefined
  log: Log
}): Background<Tasks> {
  const file = options.worker ?? fileBeside(import.meta.url, bundledFile('worker.mjs')) ?? false
  if (file === false) {
    if (options.worker === undefined)
      options.log.warn(
        { file: fileURLToPath(new URL('./worker.mjs', import.meta.url)) },
        'the worker file is missing: long work will hold up the main thread',
      )
    return inline()
  }
  return threaded(file)
}

function inline(): Background<Tasks> {
  const tasks = makeTasks({ isWorker: false })
  const inTurn = pLimit(1)
  return {
    run(name, input, onProgress) {
      const task = tasks[name] as (input: unknown, onProgress?: Progress) => unknown
      return inTurn(() => task(input, onProgress)) as never
    },
    close: () => inTurn(() => {}),
  }
}

function threaded(file: string): Background<Tasks> {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | null = null
  let next = 0
  let closed = false

  const failAll = (ended: Worker, error: unknown) => {
    // The exit that follows an error: by then the tasks are another worker's.
    if (worker !== ended) return
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
    worker = null
  }

  function start(): Worker {
    const started = new Worker(file)
    started.on('message', (message: FromWorker) => {
      const task = waiting.get(message.id)
      if (!task) return
      if ('progress' in message) return task.onProgress?.(...message.progress)
      waiting.delete(message.id)
      if (waiting.size === 0 && !closed) started.unref()
      if ('result' in message) task.resolve(message.result)
      else task.reject(message.error)
    })
    started.on('error', (error) => failAll(started, error))
    started.on('exit', () => failAll(started, new Error('the worker ended')))
    return started
  }

  return {
    run(name, input, onProgress) {
      if (closed) return Promise.reject(new Error('closed'))
      try {
        worker ??= start()
      } catch (error) {
        // A machine without room for another thread; the next task tries again.
        return Promise.reject(error as Error)
      }
      worker.ref()
      const id = next++
      worker.postMessage({ id, name, input, progress: onProgress !== undefined })
      return new Promise((resolve, reject) =>
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress }),
      )
    },
    async close() {
      closed = true
      // Where nothing else keeps the process alive, it would end before the worker has.
      worker?.ref()
      // A transaction that is cut off here is rolled back when the file is next opened.
      await worker?.terminate()
    },
  }
}
