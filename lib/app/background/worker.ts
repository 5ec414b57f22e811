/** The worker thread: runs tasks one after the other and posts what comes of them. */
import { parentPort } from 'node:worker_threads'
import type { Progress } from '../../core/async/progress.js'
import type { FromWorker } from './background.js'
import { openSqlite } from '../../db/sqlite/driver.js'
import { makeTasks } from './tasks.js'
import type { Tasks } from './tasks.js'
import { present } from '../../core/present.js'

// Loaded at once: where that fails, for want of descriptors or memory, this worker ends and the
// next task has a new one. One that went on would never find it again, since Node remembers.
openSqlite(':memory:').close()
const port = present(parentPort, 'the port to the main thread')
const tasks = makeTasks({ isWorker: true })
let last: Promise<unknown> = Promise.resolve()

port.on(
  'message',
  ({
    id,
    name,
    input,
    progress,
  }: {
    id: number
    name: keyof Tasks
    input: unknown
    progress: boolean
  }) => {
    const post = (message: FromWorker) => port.postMessage(message)
    const onProgress: Progress | undefined = progress
      ? (...args) => post({ id, progress: args })
      : undefined
    last = last.then(async () => {
      try {
        const task = tasks[name] as (input: unknown, onProgress?: Progress) => unknown
        post({ id, result: await task(input, onProgress) })
      } catch (error) {
        post({ id, error })
      }
    })
  },
)
