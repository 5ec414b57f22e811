/** What an installation has, looked at when somebody asks. */
import type { App } from '../../../lib/app/open.js'
import { measure } from '../../../lib/app/measure.js'
import type { Measures } from '../../../lib/app/measure.js'
import { readiness } from '../../../lib/app/health.js'
import { single } from './text.js'
import type { Family, Sample } from './text.js'

type Labels = Record<string, string>

export async function stateFamilies({ ctx, jobs }: App): Promise<Family[]> {
  const [measures, ready] = await Promise.all([measure(ctx), readiness(ctx)])
  const counts = [...jobs.counts]
  return [
    {
      name: 'quartermaster_ready',
      type: 'gauge',
      help: '1 for what a server needs and has, as /readyz.',
      samples: Object.entries(ready).map(([check, { ok }]) => ({
        labels: { check },
        value: flag(ok),
      })),
    },
    ...feedFamilies(measures),
    ...orderFamilies(measures),
    ...diskFamilies(measures),
    ...catalogFamilies(measures),
    {
      name: 'quartermaster_job_runs_total',
      type: 'counter',
      help: 'Runs of a job in this process.',
      samples: counts.map(([job, { runs }]) => ({ labels: { job }, value: runs })),
    },
    {
      name: 'quartermaster_job_run_failures_total',
      type: 'counter',
      help: 'Runs of a job in this process that failed.',
      samples: counts.map(([job, { failures }]) => ({ labels: { job }, value: failures })),
    },
    ...jobFamilies(measures),
    {
      name: 'quartermaster_alarms',
      type: 'gauge',
      help: 'Alarms that are raised, by kind; `events list` tells of them.',
      samples: [...measures.alarms].map(([kind, value]) => ({ labels: { kind }, value })),
    },
    single(
      'quartermaster_events_waiting',
      'gauge',
      'Events that wait for a receiver.',
      measures.eventsWaiting,
    ),
  ]
}

function feedFamilies({ feeds, now }: Measures): Family[] {
  // An id names the distributor, the preset and the id of a shop: as many as the operator has set.
  const each = (
    name: string,
    help: string,
    valueOf: (feed: Measures['feeds'][number]) => number | null,
  ): Family => ({
    name,
    type: 'gauge',
    help,
    samples: feeds.flatMap((feed): Sample[] => {
      const value = valueOf(feed)
      const labels: Labels = { source: feed.source, distid: feed.distid }
      return value === null ? [] : [{ labels, value }]
    }),
  })
  return [
    each(
      'quartermaster_feed_age_seconds',
      'Since the source last brought a feed that could be used.',
      ({ goodAt }) => (goodAt === null ? null : (now - goodAt) / 1_000),
    ),
    each('quartermaster_feed_stale', '1: no good feed came for three periods and a day.', (feed) =>
      feed.staleAt === null ? null : flag(now >= feed.staleAt),
    ),
    each('quartermaster_feed_refused', '1: the last feed waits for a decision.', ({ refused }) =>
      flag(refused !== null),
    ),
    each(
      'quartermaster_feed_pull_failures',
      'Pulls in a row that brought nothing.',
      ({ failures }) => failures,
    ),
    each('quartermaster_feed_rows', 'Rows of the feed that is in use.', ({ rows }) => rows),
    each(
      'quartermaster_feed_rejected_rows',
      'Rows of it that could not be used.',
      ({ rejected }) => rejected,
    ),
  ]
}

function orderFamilies(measures: Measures): Family[] {
  return [
    {
      name: 'quartermaster_orders',
      type: 'gauge',
      help: 'Purchase orders that are open, by state; those in review wait for a person.',
      samples: [...measures.orders].map(([state, value]) => ({ labels: { state }, value })),
    },
    single(
      'quartermaster_purchase_orders_total',
      'counter',
      'Purchase orders that were ever written down.',
      measures.ordersEver,
    ),
    single(
      'quartermaster_orders_paused',
      'gauge',
      '1: orders are paused.',
      flag(measures.isPaused),
    ),
    single(
      'quartermaster_journal_broken',
      'gauge',
      '1: orders are paused because the order journal is damaged.',
      flag(measures.isBroken),
    ),
    single(
      'quartermaster_journal_lines_total',
      'counter',
      'Lines of the order journal.',
      measures.journalLines,
    ),
    single(
      'quartermaster_sender',
      'gauge',
      '1: this process sends orders.',
      flag(measures.isSender),
    ),
  ]
}

function diskFamilies({ files, freeBytes }: Measures): Family[] {
  return [
    {
      name: 'quartermaster_database_bytes',
      type: 'gauge',
      help: 'Size of a database.',
      samples: files.map(({ file, bytes }) => ({ labels: { file }, value: bytes })),
    },
    {
      name: 'quartermaster_wal_bytes',
      type: 'gauge',
      help: 'Size of the write-ahead log of a database.',
      samples: files.map(({ file, walBytes }) => ({ labels: { file }, value: walBytes })),
    },
    single('quartermaster_disk_free_bytes', 'gauge', 'Free under the state folder.', freeBytes),
  ]
}

function catalogFamilies({ catalog: { state, offers, lastBuild } }: Measures): Family[] {
  return [
    single(
      'quartermaster_catalog_ready',
      'gauge',
      '1: a snapshot serves.',
      flag(state === 'ready'),
    ),
    single('quartermaster_catalog_offers', 'gauge', 'Offers of the snapshot that serves.', offers),
    {
      name: 'quartermaster_snapshot_build_seconds',
      type: 'gauge',
      help: 'How long the last snapshot took.',
      samples: lastBuild ? [{ value: lastBuild.milliseconds / 1_000 }] : [],
    },
  ]
}

function jobFamilies({ jobs }: Measures): Family[] {
  return [
    {
      name: 'quartermaster_job_failures_in_a_row',
      type: 'gauge',
      help: 'Runs of a job in a row that failed.',
      samples: jobs.map(({ name: job, failures }) => ({ labels: { job }, value: failures })),
    },
    {
      name: 'quartermaster_job_last_success_timestamp_seconds',
      type: 'gauge',
      help: 'When a job last ended well, since 1970.',
      samples: jobs.flatMap(({ name: job, finishedAt }): Sample[] =>
        finishedAt === null ? [] : [{ labels: { job }, value: finishedAt / 1_000 }],
      ),
    },
  ]
}

const flag = (is: boolean) => (is ? 1 : 0)
