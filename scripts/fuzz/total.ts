/** What all epochs of a run came to. */
import type { EpochResult, Failure, Slowest } from './epoch.js'

export interface Total {
  requests: number
  overSocket: number
  orders: number
  failures: Map<string, Failure>
  slowest: Slowest[]
  answers: EpochResult['answers']
  /** Timers that workers left behind. */
  left: string[]
}

export function emptyTotal(): Total {
  return {
    requests: 0,
    overSocket: 0,
    orders: 0,
    failures: new Map(),
    slowest: [],
    answers: {},
    left: [],
  }
}

/** Adds an epoch; tells the failures that no epoch before it had. */
export function add(total: Total, result: EpochResult): Failure[] {
  total.requests += result.requests
  total.overSocket += result.overSocket
  total.orders += result.orders
  total.slowest = [...total.slowest, ...result.slowest].sort((a, b) => b.cpu - a.cpu).slice(0, 10)
  for (const [name, answers] of Object.entries(result.answers)) {
    const of = (total.answers[name] ??= {})
    for (const [answer, times] of Object.entries(answers)) of[answer] = (of[answer] ?? 0) + times
  }
  return result.failures.filter((failure) => {
    const known = total.failures.get(failure.sign)
    if (known) known.times += failure.times
    else total.failures.set(failure.sign, failure)
    return !known
  })
}

export function report(
  { requests, overSocket, orders, failures, slowest, answers, left }: Total,
  seconds: number,
): string {
  const lines = Object.entries(answers)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, of]) =>
        `  ${name}: ${Object.entries(of)
          .sort(([, a], [, b]) => b - a)
          .map(([answer, times]) => `${answer.trim()} ${times}`)
          .join(', ')}`,
    )
  return [
    'answers',
    ...lines,
    'slowest, by processor',
    ...slowest.map(
      ({ what, cpu, wall }) => `  ${cpu.toFixed(0)} ms (${wall.toFixed(0)} by the clock) ${what}`,
    ),
    ...[...failures.values()].map(
      ({ sign, times, seed, at }) => `FAILED ${times} times: ${sign} (seed ${seed}, request ${at})`,
    ),
    ...(left.length > 0 ? [`LEFT ${left.join(', ')}`] : []),
    `${requests.toLocaleString('en-US')} requests (${overSocket.toLocaleString('en-US')} over ` +
      `a socket), ${orders.toLocaleString('en-US')} orders, ${failures.size} kinds of failure, ` +
      `${seconds.toFixed(0)} s, ${Math.round(requests / seconds)} a second`,
  ].join('\n')
}
