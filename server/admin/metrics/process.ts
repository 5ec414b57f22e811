/** What the process takes, and how long its event loop keeps others waiting. */
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ownVersion } from '../../cli/version.js'
import { single } from './text.js'
import type { Family, Sample } from './text.js'

/** Milliseconds between two looks at the loop. */
const RESOLUTION = 20
/** Milliseconds that one figure is of: whoever scrapes, and however often, reads the same. */
const WINDOW = 15_000

export interface ProcessMetrics {
  families(): Family[]
  /** Looks at the loop no more. */
  close(): void
}

export function openProcessMetrics(): ProcessMetrics {
  const delay = openLoopDelay()
  const started = Date.now() / 1_000 - process.uptime()
  const version = ownVersion()
  return {
    close: delay.close,
    families() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed, external } = process.memoryUsage()
      return [
        {
          name: 'quartermaster_build_info',
          type: 'gauge',
          help: 'The release that runs, and its Node.',
          samples: [{ labels: { version, node: process.version }, value: 1 }],
        },
        {
          name: 'quartermaster_event_loop_delay_seconds',
          type: 'gauge',
          help: 'How late the event loop was in the last 15 seconds that are over, by percentile.',
          samples: delay.latest(),
        },
        single(
          'process_cpu_seconds_total',
          'counter',
          'Processor time, user and system.',
          (user + system) / 1e6,
        ),
        single('process_resident_memory_bytes', 'gauge', 'Resident memory.', rss),
        single('nodejs_heap_used_bytes', 'gauge', 'JavaScript heap in use.', heapUsed),
        single('nodejs_external_memory_bytes', 'gauge', 'Memory outside of that heap.', external),
        single('process_start_time_seconds', 'gauge', 'Start, since 1970.', started),
        ...openFiles(),
      ]
    },
  }
}

function openLoopDelay(): { latest(): Sample[]; close(): void } {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION })
  histogram.enable()
  // What it measures is the time from look to look.
  const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - RESOLUTION / 1_000)
  const read = () =>
    (
      [
        ['50', histogram.percentile(50)],
        ['99', histogram.percentile(99)],
        ['100', histogram.max],
      ] as const
    ).map(([percentile, value]) => ({
      labels: { percentile },
      value: histogram.count === 0 ? 0 : late(value),
    }))
  let last: Sample[] | undefined
  const timer = setInterval(() => {
    last = read()
    histogram.reset()
  }, WINDOW).unref()
  return {
    latest: () => last ?? read(),
    close() {
      clearInterval(timer)
      histogram.disable()
    },
  }
}

/** None where the system does not tell. */
function openFiles(): Family[] {
  if (process.platform !== 'linux') return []
  const count = readdirSync('/proc/self/fd').length
  return [single('process_open_fds', 'gauge', 'Open file descriptors.', count)]
}
