/** What a soak run has seen, in samples of ten seconds. */
import type { Answered } from './load.js'
import type { SoakServer } from './server.js'

const SECONDS = 10

/** Ten seconds of a run. Times are in milliseconds, memory in bytes. */
export interface Sample {
  /** Seconds from the beginning to its end. */
  at: number
  answers: number
  p50: number | null
  p99: number | null
  /** By status; 0 is no answer. */
  statuses: { [status: string]: number }
  memory: number | null
  loopDelay: number | null
}

/** All answers of one kind of request. */
export interface KindFigures {
  kind: string
  answers: number
  p50: number
  p99: number
  worst: number
  statuses: { [status: string]: number }
}

const rank = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]

export class Record {
  readonly #server: SoakServer
  readonly samples: Sample[] = []
  readonly #all = new Map<string, Answered[]>()
  #current: Answered[] = []
  #timer: NodeJS.Timeout | undefined
  #begun = 0

  constructor(server: SoakServer) {
    this.#server = server
  }

  start(): void {
    this.#begun = performance.now()
    this.#timer = setInterval(() => void this.#sample(), SECONDS * 1_000)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  add(answer: Answered): void {
    this.#current.push(answer)
    const all = this.#all.get(answer.kind)
    if (all) all.push(answer)
    else this.#all.set(answer.kind, [answer])
  }

  async #sample(): Promise<void> {
    const answers = this.#current.splice(0)
    const at = (performance.now() - this.#begun) / 1_000
    const times = timesOf(answers)
    this.samples.push({
      at,
      answers: answers.length,
      p50: rank(times, 0.5) ?? null,
      p99: rank(times, 0.99) ?? null,
      statuses: countStatuses(answers),
      memory: this.#server.memory(),
      loopDelay: await this.#server.loopDelay(),
    })
  }

  /** The last minute in words. */
  line(minute: number): string {
    const { at, answers, p50, p99, statuses, memory, loopDelay } = this.samples.at(-1)!
    const ms = (value: number | null) => (value === null ? '-' : `${value.toFixed(1)} ms`)
    return (
      `minute ${minute}: ${(answers / SECONDS).toFixed(0)} answers a second, p50 ${ms(p50)}, ` +
      `p99 ${ms(p99)}, ${JSON.stringify(statuses)}, ${((memory ?? 0) / 1e6).toFixed(0)} MB, ` +
      `loop ${ms(loopDelay)} (at ${at.toFixed(0)} s)`
    )
  }

  kinds(): KindFigures[] {
    return [...this.#all].map(([kind, answers]) => {
      const times = timesOf(answers)
      return {
        kind,
        answers: answers.length,
        p50: rank(times, 0.5) ?? 0,
        p99: rank(times, 0.99) ?? 0,
        worst: times.at(-1) ?? 0,
        statuses: countStatuses(answers),
      }
    })
  }
}

const timesOf = (answers: readonly Answered[]) =>
  answers
    .filter(({ status }) => status !== 0)
    .map(({ milliseconds }) => milliseconds)
    .sort((a, b) => a - b)

function countStatuses(answers: readonly Answered[]): { [status: string]: number } {
  const counts: { [status: string]: number } = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
