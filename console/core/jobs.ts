/** Work that takes minutes: it is started, and goes on when the page is closed. */
import { signal } from '@preact/signals'
import type { Input, Operation, Output } from './api.js'
import { CallError, call } from './call.js'
import { texts } from '../texts.js'
import { useReading } from './use-call.js'
import type { Read } from './use-call.js'

export interface Progress {
  done: number
  total: number
}

/** Work that this page waits for, by its job's id. */
export const underWay = signal<ReadonlyMap<string, Progress | null>>(new Map())

/** Does a long operation, and answers what it came to. Throws a CallError. */
export async function runLong<Op extends Operation>(
  name: Op,
  input: Input<Op>,
  onProgress: (progress: Progress) => void = () => {},
): Promise<Output<Op>> {
  const { job } = (await call(name, input)) as { job: string }
  return (await follow(job, onProgress)) as Output<Op>
}

/** Waits for the end of a job. */
export function follow(job: string, onProgress: (progress: Progress) => void): Promise<unknown> {
  const note = (progress: Progress | null) => {
    underWay.value = new Map(underWay.value).set(job, progress)
  }
  note(null)
  return new Promise((resolve, reject) => {
    const events = new EventSource(`/operator/jobs/${job}/events`)
    const end = () => {
      events.close()
      underWay.value = new Map([...underWay.value].filter(([id]) => id !== job))
    }
    events.addEventListener('progress', ({ data }: MessageEvent<string>) => {
      const progress = JSON.parse(data) as Progress
      note(progress)
      onProgress(progress)
    })
    events.addEventListener('done', ({ data }: MessageEvent<string>) => {
      end()
      resolve((JSON.parse(data) as { result: unknown }).result)
    })
    events.addEventListener('error', () => {
      // It asks again by itself, unless it was told that there is no such work any more.
      if (events.readyState !== EventSource.CLOSED) return
      end()
      reject(new CallError('work_lost', 0, texts.faults.workLost))
    })
    events.addEventListener('failed', ({ data }: MessageEvent<string>) => {
      end()
      const { code, message, details } = JSON.parse(data) as {
        code: string
        message: string
        details?: unknown
      }
      reject(new CallError(code, 0, message, details))
    })
  })
}

/** A read that takes longer than a page may wait: it is a job, and its end is the answer. */
export function useLong<Op extends Operation>(name: Op, input: Input<Op>): Read<Output<Op>> {
  return useReading(`${name} ${JSON.stringify(input)}`, () => runLong(name, input))
}
