/**
 * Long work that a page has started: it goes on when the page is closed, and tells whoever looks
 * how far it is. What is known of it ends with the process.
 */
import type { ServerResponse } from 'node:http'
import { ApiError } from '../../lib/core/errors.js'
import type { Log } from '../../lib/core/log.js'
import { asApiError } from './messages.js'

type Told = { code: string; message: string; details?: unknown }

export interface WorkState {
  id: string
  operation: string
  actor: string
  started_at: string
  ended_at: string | null
  state: 'running' | 'done' | 'failed'
  progress: { done: number; total: number; count: number } | null
  error: Told | null
}

export interface LongWork {
  /** Begins; the id by which it is told of. */
  start(
    operation: string,
    actor: string,
    run: (onProgress: (done: number, total: number, count: number) => void) => Promise<unknown>,
  ): string
  /** The newest first. */
  list(): WorkState[]
  /** What came of one that is done. 404 for one that there is not. */
  resultOf(id: string): { state: WorkState; result: unknown }
  /** Writes what happens to one as server-sent events, until it has ended or nobody listens. */
  follow(id: string, response: ServerResponse): void
}

/** Ended ones that are remembered. */
const REMEMBERED = 50
/** Milliseconds between two events of progress, and between signs of life. */
const EVERY = 250
const ALIVE = 15_000

interface Kept extends WorkState {
  result: unknown
  listeners: Set<(event: 'progress' | 'done' | 'failed') => void>
}

export function openLongWork({
  now,
  random,
  log,
}: {
  now: () => number
  random: (bytes: number) => Buffer
  log: Log
}): LongWork {
  const kept = new Map<string, Kept>()
  const iso = () => new Date(now()).toISOString()

  function forgetOld(): void {
    const ended = [...kept.values()].filter(({ state }) => state !== 'running')
    for (const { id } of ended.slice(0, Math.max(0, ended.length - REMEMBERED))) kept.delete(id)
  }

  function find(id: string): Kept {
    const found = kept.get(id)
    if (!found)
      throw new ApiError('not_found', {
        message: 'Nothing is known of this work: the server was started anew, or it is long ago.',
      })
    return found
  }

  return {
    start(operation, actor, run) {
      forgetOld()
      const work: Kept = {
        id: random(8).toString('hex'),
        operation,
        actor,
        started_at: iso(),
        ended_at: null,
        state: 'running',
        progress: null,
        error: null,
        result: null,
        listeners: new Set(),
      }
      kept.set(work.id, work)
      const end = (state: 'done' | 'failed') => {
        work.state = state
        work.ended_at = iso()
        for (const listener of work.listeners) listener(state)
      }
      run((done, total, count) => {
        work.progress = { done, total, count }
        for (const listener of work.listeners) listener('progress')
      }).then(
        (result) => {
          work.result = result ?? null
          end('done')
        },
        (error: unknown) => {
          const { code, message, details } = asApiError(error, log)
          work.error = { code, message, ...(details !== undefined && { details }) }
          end('failed')
        },
      )
      return work.id
    },
    list: () => [...kept.values()].reverse().map(stateOf),
    resultOf(id) {
      const work = find(id)
      return { state: stateOf(work), result: work.result }
    },
    follow(id, response) {
      const work = find(id)
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      follow(work, response)
    },
  }
}

const stateOf = ({ result: _result, listeners: _listeners, ...state }: Kept): WorkState => state

function follow(work: Kept, response: ServerResponse): void {
  const write = (event: string, data: unknown) =>
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  let waiting: NodeJS.Timeout | undefined
  const alive = setInterval(() => response.write(': alive\n\n'), ALIVE).unref()
  const tell = () => {
    waiting = undefined
    if (work.progress) write('progress', work.progress)
  }
  const stop = () => {
    clearTimeout(waiting)
    clearInterval(alive)
    work.listeners.delete(listen)
  }
  const listen = (event: 'progress' | 'done' | 'failed') => {
    if (event === 'progress') return void (waiting ??= setTimeout(tell, EVERY).unref())
    stop()
    write(event, event === 'done' ? { result: work.result } : work.error)
    response.end()
  }
  response.on('close', stop)
  tell()
  if (work.state === 'running') work.listeners.add(listen)
  else listen(work.state)
}
