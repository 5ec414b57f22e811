/**
 * Tells a node which of the things that it keeps in memory have changed, whichever node changed
 * them: by the server's notification, and by a look each second, since a connection can be lost and
 * a pooler swallows notifications. The look shows who has the lead as well, so that nobody asks for
 * it besides.
 */
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { StateName } from '../tables/column-types.js'
import type { Postgres } from './connect.js'
import type { Client } from './driver.js'
import { INSTALLATION } from './lead/lead.js'
import type { Lease } from './lead/lease.js'
import { leave, ownClient } from './own-client.js'
import { CHANNEL, ORDERS_CHANNEL } from './schema/state.js'

/** Milliseconds before a lost connection is made anew. */
const RECONNECT = SECOND
/** In one message, and over one state of the database. */
const LOOK = `select name, value from state;
  select owner, mark from lease where name = '${INSTALLATION}'`

export interface Changes {
  /** Looks now, and tells what has changed before it resolves. */
  look(): Promise<void>
  close(): Promise<void>
}

export interface Watched {
  postgres: Pick<Postgres, 'newClient'>
  log: Pick<Log, 'warn' | 'info'>
  /** Milliseconds between two looks; a second, unless somebody says otherwise. */
  lookEvery?: number
  /** Told of each name that has moved since it was last told of it. */
  moved: (names: StateName[]) => void
  /** Told what a node has told of orders. */
  ordersTold?: (news: string) => void
  /** Told with each look who has the lead. */
  leaseShown?: (lease: Lease | undefined) => void
}

interface State {
  name: StateName
  value: number
}

/** Resolves once the numbers of now are known: what is read afterwards is at least as new. */
export async function watchChanges({
  postgres,
  log,
  lookEvery = SECOND,
  moved,
  ordersTold = () => {},
  leaseShown = () => {},
}: Watched): Promise<Changes> {
  const closing = new AbortController()
  // A look that hangs is soon given up, and hangs behind nobody.
  const looking = ownClient(postgres)
  const known = new Map<StateName, number>()
  let isAway = false
  let underWay: Promise<void> | undefined
  let isAskedAgain = false

  async function read(): Promise<void> {
    // The driver has an answer to each statement.
    const answers = [await looking.use((client) => client.query(LOOK))].flat()
    const [now, leases] = answers.map(({ rows }) => rows) as unknown as [State[], Lease[]]
    leaseShown(leases[0])
    const names = now.flatMap(({ name, value }) => (known.get(name) === value ? [] : [name]))
    const isFirst = known.size === 0
    for (const { name, value } of now) known.set(name, value)
    if (!isFirst && names.length > 0) moved(names)
  }

  async function readOrWait(): Promise<void> {
    do {
      isAskedAgain = false
      try {
        await read()
        if (isAway) log.info({}, 'the database is there again')
        isAway = false
      } catch (error) {
        if (!isAway && !closing.signal.aborted)
          log.warn({ err: error }, 'what has changed in the database cannot be read; tried again')
        isAway = true
      }
    } while (isAskedAgain)
    // In the same step as the last question: who asks from here on begins anew.
    underWay = undefined
  }

  /** A change that is told of during a look may be too late for it. */
  function look(): Promise<void> {
    isAskedAgain = underWay !== undefined
    return (underWay ??= readOrWait())
  }

  async function lookNowAndThen(): Promise<void> {
    while (!closing.signal.aborted) {
      await pause(lookEvery, closing.signal)
      if (!closing.signal.aborted) await look()
    }
  }

  try {
    await read()
  } catch (error) {
    await looking.close()
    throw error
  }
  const running = [lookNowAndThen(), listen(postgres, closing.signal, { look, ordersTold })]
  return {
    look,
    async close() {
      closing.abort()
      await Promise.all(running)
      await looking.close()
    },
  }
}

/** Keeps a connection that listens, and looks whenever it hears something or has just been made. */
async function listen(
  { newClient }: Watched['postgres'],
  closing: AbortSignal,
  { look, ordersTold }: { look: () => Promise<void>; ordersTold: (news: string) => void },
): Promise<void> {
  while (!closing.aborted) {
    const client = newClient()
    let stop = () => {}
    const end = new Promise<void>((resolve) => {
      stop = resolve
    })
    client.on('error', stop)
    client.on('end', stop)
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === ORDERS_CHANNEL) ordersTold(payload)
      else void look()
    })
    const close = () => {
      stop()
      void leave(client)
    }
    closing.addEventListener('abort', close)
    // One that is closed while it connects may never say so.
    if (await Promise.race([begin(client), end.then(() => false)])) {
      // What was told while nobody listened.
      await look()
      await end
    }
    closing.removeEventListener('abort', close)
    await leave(client)
    await pause(RECONNECT, closing)
  }
}

/** True once it listens. Where it cannot, the look each second has to do. */
async function begin(client: Client): Promise<boolean> {
  try {
    await client.connect()
    await client.query(`listen ${CHANNEL}; listen ${ORDERS_CHANNEL}`)
    return true
  } catch {
    return false
  }
}
