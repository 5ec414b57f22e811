/** Connections that belong to no pool, for who must not wait behind anybody else. */
import { inTime } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Postgres } from './connect.js'
import type { Client } from './driver.js'
import { faultOf } from './faults.js'

/** Milliseconds after which a server that says nothing is given up. */
const ANSWER_TIMEOUT = 2 * SECOND
/** Milliseconds for which the end of a connection is waited for. */
const GOODBYE = SECOND

export interface OwnClient {
  /** Asks by the connection, which is made if there is none. One asks at a time. */
  use<T>(ask: (client: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** A connection for short questions. After any failure the next one gets a new one. */
export function ownClient({ newClient }: Pick<Postgres, 'newClient'>): OwnClient {
  let kept: Client | undefined

  async function connected(): Promise<Client> {
    const client = newClient({ answerTimeout: ANSWER_TIMEOUT })
    // Its end while nobody asks is no failure: the next one gets a new one.
    client.on('error', () => {})
    client.on('end', () => {
      if (kept === client) kept = undefined
    })
    await client.connect()
    return client
  }

  async function close(): Promise<void> {
    const client = kept
    kept = undefined
    if (client) await leave(client)
  }

  return {
    async use(ask) {
      try {
        kept ??= await connected()
        return await ask(kept)
      } catch (error) {
        void close()
        throw faultOf(error)
      }
    },
    close,
  }
}

/** Ends a connection; a server that does not answer is not waited for. */
export async function leave(client: Client): Promise<void> {
  await inTime(() => client.end().catch(() => {}), { ms: GOODBYE, late: () => {} })
}
