/**
 * Work in a process of its own: DuckDB can be stopped only together with the process that it runs
 * in. What such a process does is in lib/app/background/duckdb.ts; here it is started, limited and killed.
 */
import { fork } from 'node:child_process'
import { SECOND } from '../clock.js'
import { present } from '../present.js'
import { bundledFile, fileBeside } from './beside.js'

/** What the process says: any number of `progress`, then one of the others. */
export type FromChild<R> = { progress: ChildProgress } | { result: R } | { error: string }

/** How far the work has come: steps done, steps in all, and what is being done, in words. */
export type ChildProgress = [done: number, total: number, doing: string]

export interface ChildOptions {
  /** Milliseconds after which it is killed. */
  limit: number
  /** Megabytes of JavaScript that it may hold. */
  heap: number
  signal: AbortSignal
  /** Begins the message of whatever goes wrong: `the export was not built`. */
  failure: string
  /** Its file; `duckdb.mjs` beside this module by default. */
  file?: string | undefined
  onProgress?: ((...progress: ChildProgress) => void) | undefined
}

/** Work that was stopped from outside: nothing speaks against what it worked on. */
export interface StoppedWork extends Error {
  isStopped: boolean
}

/** The bundled file beside this module, or the source itself where that is run. */
function childFile(): string {
  const found = fileBeside(import.meta.url, [
    ...bundledFile('duckdb.mjs'),
    '../../app/background/duckdb.mjs',
    '../../app/background/duckdb.ts',
  ])
  if (found === undefined)
    throw new Error('duckdb.mjs, which writes exports and analytics, is not beside this module')
  return found
}

/** What DuckDB and the loader of native parts may need; never a secret of ours. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TZ', 'NODE_PATH']

/**
 * Does one job, told by its `kind`, in a new process. Rejects when it fails, takes too long, or its
 * process ends without a word.
 */
export function runChild<R>(
  job: { kind: string },
  { limit, heap, signal, failure, file = childFile(), onProgress }: ChildOptions,
): Promise<R> {
  return new Promise((resolve, reject) => {
    const child = fork(file, [], {
      execArgv: [...(file.endsWith('.ts') ? process.execArgv : []), `--max-old-space-size=${heap}`],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: Object.fromEntries(
        PASSED_ON.flatMap((name) => {
          const value = process.env[name]
          return value === undefined ? [] : [[name, value]]
        }),
      ),
    })
    let said = ''
    let answer: FromChild<R> | undefined
    let cause: string | undefined
    const kill = (why: string) => {
      cause ??= why
      child.kill('SIGKILL')
    }
    const timer = setTimeout(() => kill(`it was not done after ${limit / SECOND} s`), limit)
    const close = () => kill('the app closes')
    signal.addEventListener('abort', close, { once: true })
    present(child.stderr, 'the pipe of stderr').on('data', (chunk: Buffer) => {
      said = (said + String(chunk)).slice(-2_000)
    })
    child.on('message', (message: FromChild<R>) => {
      if ('progress' in message) onProgress?.(...message.progress)
      else answer = message
    })
    child.once('error', (error) => {
      cause ??= error.message
    })
    child.once('close', (code, killedBy) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', close)
      if (answer && 'result' in answer) resolve(answer.result)
      else {
        const why =
          cause ??
          (answer && 'error' in answer
            ? answer.error
            : `its process ended with ${killedBy ?? code}${said && `: ${said.trim()}`}`)
        reject(
          Object.assign(new Error(`${failure}: ${why}`), {
            isStopped: cause !== undefined,
          }) satisfies StoppedWork,
        )
      }
    })
    child.send(job)
    if (signal.aborted) close()
  })
}
