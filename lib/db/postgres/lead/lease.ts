/**
 * The rows of who leads. `leadership` has who does and in which epoch, and every write of a leader
 * holds on to it. A row of `lease` is there for as long as somebody has it: one that was given back
 * is gone. Each renewal leaves another mark in it: whoever sees the same one for the whole life of
 * a lease knows that nobody renewed it, without asking what time it is elsewhere.
 */
import type { Client } from '../driver.js'
import type { Postgres } from '../connect.js'
import { ownClient } from '../own-client.js'

/** Milliseconds for which who takes the lead waits for a write of the one before. */
const PATIENCE = 1_000

export interface Lease {
  owner: string
  /** Another one with each renewal; none ever comes again. */
  mark: string
}

export interface LeaseRows {
  /** Who has it; undefined where nobody does. */
  look(): Promise<Lease | undefined>
  /**
   * Takes it, where it still is as it was seen. Resolves with the new epoch, and with null where it
   * is not so any more.
   */
  take(seen: Lease | undefined): Promise<number | null>
  /** False where another one has it by now. */
  renew(epoch: number): Promise<boolean>
  giveBack(epoch: number): Promise<void>
  close(): Promise<void>
}

/** Asks by a connection of its own. */
export function openLeaseRows(
  postgres: Pick<Postgres, 'newClient'>,
  { name, owner }: { name: string; owner: string },
): LeaseRows {
  const connection = ownClient(postgres)
  const ask = (text: string, values: readonly unknown[]) =>
    connection.use((client) => client.query(text, values))

  return {
    async look() {
      const { rows } = await ask('select owner, mark from lease where name = $1', [name])
      return rows[0] as Lease | undefined
    },
    take: (seen) =>
      connection.use(async (client) => {
        await client.query('begin isolation level read committed')
        await client.query(`set local lock_timeout = ${PATIENCE}`)
        const epoch = await takeWithin(client, { name, owner, seen })
        await client.query(epoch === null ? 'rollback' : 'commit')
        return epoch
      }),
    async renew(epoch) {
      const { rows } = await ask(
        `update lease set mark = gen_random_uuid(), renewed_at = now_ms()
          where name = $1 and owner = $2 and epoch = $3 returning 1`,
        [name, owner, epoch],
      )
      return rows.length > 0
    },
    async giveBack(epoch) {
      await ask('delete from lease where name = $1 and owner = $2 and epoch = $3', [
        name,
        owner,
        epoch,
      ])
    },
    close: connection.close,
  }
}

async function takeWithin(
  client: Client,
  { name, owner, seen }: { name: string; owner: string; seen: Lease | undefined },
): Promise<number | null> {
  // Waits for the writes that hold on to it, and for others who are about to take it.
  const taken = await client.query(
    `insert into leadership (name, owner, epoch) values ($1, $2, 1)
      on conflict (name) do update set owner = excluded.owner, epoch = leadership.epoch + 1
      returning epoch`,
    [name, owner],
  )
  const { rows } = await client.query('select mark from lease where name = $1 for update', [name])
  if (rows[0]?.['mark'] !== seen?.mark) return null
  const epoch = taken.rows[0]!['epoch'] as number
  await client.query(
    `insert into lease (name, owner, epoch, mark, renewed_at)
      values ($1, $2, $3, gen_random_uuid(), now_ms())
      on conflict (name) do update
      set owner = excluded.owner, epoch = excluded.epoch, mark = excluded.mark,
        renewed_at = excluded.renewed_at`,
    [name, owner, epoch],
  )
  return epoch
}
