/** What the process takes, and how long its event loop keeps others waiting. */
import { readdirSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { ownVersion } from '../../cli/version.js'
import { single } from './text.js'
import type { Family } from './text.js'

/** Milliseconds between two looks at the loop. */
const RESOLUTION = 20

export interface ProcessMetrics {
  families(): Family[]
  /** Looks at the loop no more. */
  close(): void
}

export function openProcessMetrics(): ProcessMetrics {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  delay.enable()
  const started = Date.now() / 1_000 - process.uptime()
  const version = ownVersion()
  return {
    close: () => void delay.disable(),
    families() {
      const { user, system } = process.cpuUsage()
      const { rss, heapUsed, external } = process.memoryUsage()
      // What it measures is the time from look to look.
      const late = (nanoseconds: number) =>
        Math.max(0, (Number.isNaN(nanoseconds) ? 0 : nanoseconds) / 1e9 - RESOLUTION / 1_000)
      const delays = [
        ['50', delay.percentile(50)],
        ['99', delay.percentile(99)],
        ['100', delay.max],
      ] as const
      const samples = delays.map(([percentile, value]) => ({
        labels: { percentile },
        value: delay.count === 0 ? 0 : late(value),
      }))
      delay.reset()
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
          help: 'How late the event loop was since the last scrape, by percentile.',
          samples,
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

/** None where the system does not tell. */
function openFiles(): Family[] {
  if (process.platform !== 'linux') return []
  const count = readdirSync('/proc/self/fd').length
  return [single('process_open_fds', 'gauge', 'Open file descriptors.', count)]
}
