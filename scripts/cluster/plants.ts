/** Bugs of several nodes, each of which a suite of `test/postgres` must find, or the cluster's run. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { sql } from 'kysely'
import { HOUR } from '../../lib/core/clock.js'
import { LeadLost } from '../../lib/db/lead.js'
import type * as Atomic from '../../lib/db/postgres/atomic.js'
import type * as Calls from '../../lib/db/postgres/counts/calls.js'
import type * as Changes from '../../lib/db/postgres/changes.js'
import type * as Faults from '../../lib/db/postgres/faults.js'
import type * as Leadership from '../../lib/db/postgres/lead/leadership.js'
import type * as Http from '../../lib/distributors/session/http.js'
import type * as Apply from '../../lib/feeds/shared/apply.js'
import type * as Follow from '../../lib/feeds/shared/follow.js'
import type * as Parts from '../../lib/feeds/shared/parts.js'
import { writePoint } from '../../lib/feeds/shared/queries.js'
import type * as Due from '../../lib/orders/engine/due.js'
import type * as Outcomes from '../../lib/orders/engine/outcomes.js'
import type * as AfterSend from '../../lib/orders/engine/rules/after-send.js'
import type * as Fence from '../../lib/orders/engine/sender/fence.js'
import type { Plant } from '../plants/seam.js'

export interface NodesPlant extends Plant {
  /** The cluster's run finds it, too, within so many epochs. */
  readonly epochs?: number
}

export const PLANTS: readonly NodesPlant[] = [
  {
    name: 'the epoch of a claim is not looked at',
    suites: ['postgres/orders'],
    seams: [
      {
        at: 'lib/orders/engine/sender/fence.ts#fence',
        make: (): typeof Fence.fence => async () => {},
      },
    ],
  },
  {
    name: 'the epoch is read outside of the transaction',
    suites: ['postgres/leadership'],
    seams: [
      {
        at: 'lib/db/postgres/lead/leadership.ts#standForLead',
        make:
          (real: typeof Leadership.standForLead): typeof real =>
          (candidate) => {
            const standing = real(candidate)
            return {
              get epoch() {
                return standing.epoch
              },
              mayBegin: (epoch) => standing.mayBegin(epoch),
              shown: (lease) => standing.shown(lease),
              async fence(_tx, epoch) {
                const client = candidate.postgres.newClient()
                await client.connect()
                const { rows } = await client.query(
                  'select 1 from leadership where name = $1 and owner = $2 and epoch = $3',
                  [candidate.name, candidate.owner, epoch],
                )
                await client.end()
                if (rows.length === 0) throw new LeadLost()
              },
              close: () => standing.close(),
            }
          },
      },
    ],
  },
  {
    name: 'what became of an order is looked for once a node tells of it, and not else',
    suites: ['postgres/unheard'],
    seams: [
      {
        at: 'lib/orders/engine/outcomes.ts#openOutcomes',
        make:
          (real: typeof Outcomes.openOutcomes): typeof real =>
          (ctx, stopping) => {
            const outcomes = real(ctx, stopping)
            return {
              async next(placement) {
                const heard = new AbortController()
                await new Promise<void>((resolve) => {
                  stopping.addEventListener('abort', () => resolve(), { signal: heard.signal })
                  ctx.engine.lead?.onTold('moved', () => resolve(), heard.signal)
                })
                heard.abort()
                return outcomes.next(placement)
              },
            }
          },
      },
    ],
  },
  {
    name: 'orders that wait for the leader are looked for once a node tells of them, and not else',
    suites: ['postgres/unheard'],
    seams: [
      {
        at: 'lib/orders/engine/due.ts#untold',
        make: (): typeof Due.untold => () => () => false,
      },
    ],
  },
  {
    name: 'what is kept in memory is read anew once a node tells of it, and not else',
    suites: ['postgres/unheard'],
    seams: [
      {
        at: 'lib/db/postgres/changes.ts#watchChanges',
        make:
          (real: typeof Changes.watchChanges): typeof real =>
          (watched) =>
            real({ ...watched, lookEvery: HOUR }),
      },
    ],
  },
  {
    name: 'a transaction that must be serializable sees what others commit meanwhile',
    suites: ['postgres/atomic'],
    seams: [
      {
        at: 'lib/db/postgres/atomic.ts#transactPostgres',
        make:
          (real: typeof Atomic.transactPostgres): typeof real =>
          (db, owner, fn, options) =>
            real(
              db,
              owner,
              async (tx) => {
                await sql`set transaction isolation level read committed`.execute(tx)
                return fn(tx)
              },
              options,
            ),
      },
    ],
  },
  {
    name: 'a COMMIT without an answer counts as one that failed',
    suites: ['postgres/atomic', 'postgres/orders'],
    seams: [
      {
        at: 'lib/db/postgres/faults.ts#CommitUnknown',
        make: (): typeof Faults.CommitUnknown =>
          class extends Error {
            readonly code = 'POSTGRES_AWAY'
          } as never,
      },
    ],
  },
  {
    name: 'a send begins after more than half of the lease',
    suites: ['postgres/orders'],
    seams: [
      {
        at: 'lib/orders/engine/sender/fence.ts#whyTooLate',
        make: (): typeof Fence.whyTooLate => () => null,
      },
    ],
  },
  {
    name: 'the clocks are not looked at once a connection is there',
    suites: ['postgres/orders'],
    seams: [
      {
        at: 'lib/distributors/session/http.ts#callHttp',
        make:
          (real: typeof Http.callHttp): typeof real =>
          (egress, call, signal) =>
            real(egress, call, signal),
      },
    ],
  },
  {
    name: 'what the leader before was sending is sent again',
    suites: ['postgres/orders'],
    epochs: 3,
    seams: [
      {
        at: 'lib/orders/engine/rules/after-send.ts#afterDeath',
        make: (): typeof AfterSend.afterDeath => (_order, now) => ({
          to: 'planned',
          reason: null,
          owner: null,
          next_at: now,
          first_sent_at: null,
          account: null,
        }),
      },
    ],
  },
  {
    name: 'each node counts the calls of a key for itself',
    suites: ['postgres/calls'],
    seams: [
      {
        at: 'lib/db/postgres/counts/calls.ts#openCalls',
        make: (real: typeof Calls.openCalls): typeof real => {
          let nodes = 0
          return (postgres) => {
            const own = `node ${++nodes}`
            const calls = real(postgres)
            return {
              ...calls,
              count: (call) => calls.count({ ...call, keyId: `${own} ${call.keyId}` }),
            }
          }
        },
      },
    ],
  },
  {
    name: 'a change goes onto a catalog that has something which nobody has published',
    suites: ['postgres/catalog/faults'],
    seams: [
      {
        at: 'lib/feeds/shared/follow.ts#follow',
        make:
          (real: typeof Follow.follow): typeof real =>
          (parts, transfer, { published, point }) =>
            real(parts, transfer, {
              published,
              point: { ...point, pending: null, isChanged: false },
            }),
      },
      {
        at: 'lib/feeds/shared/apply.ts#applyChange',
        make:
          (real: typeof Apply.applyChange): typeof real =>
          (opened, change) => {
            const { raw, database } = opened
            database.clearNotes(raw)
            writePoint(raw, { mark: change.before!, pending: null })
            return real(opened, change)
          },
      },
    ],
  },
  {
    name: 'an object of the store is used whatever its bytes are',
    suites: ['postgres/catalog/faults'],
    seams: [
      {
        at: 'lib/feeds/shared/parts.ts#unpackFile',
        make: (): typeof Parts.unpackFile => (folder, parts, path) =>
          writeFileSync(
            path,
            Buffer.concat(
              parts.map(({ digest }) => brotliDecompressSync(readFileSync(join(folder, digest)))),
            ),
          ),
      },
    ],
  },
]
