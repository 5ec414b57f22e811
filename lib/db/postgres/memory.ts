/**
 * What a node keeps in memory of the system of record. It cannot be asked within the turn, so what
 * is kept is read before it is wanted: at the start, after a transaction of this node that touched
 * it, and when another node says that it did.
 */
import { pause } from '../../core/async/wait.js'
import { SECOND } from '../../core/clock.js'
import type { Log } from '../../core/log.js'
import type { Reading } from '../query.js'
import { value } from '../reading.js'
import { valueOf, withReading } from '../state.js'
import type { Memory, Remembered } from '../state.js'
import type { StateName } from '../tables/column-types.js'

export interface NodeMemory extends Memory {
  /** Reads what is kept of these, or what is not read yet. */
  refresh(names?: Iterable<StateName>): Promise<void>
  /** The same for who does not wait: what fails is tried again each second until it is read. */
  refreshSoon(names: Iterable<StateName>): void
  close(): Promise<void>
}

/** All that is kept of one state: it moves together, so that what is read of it fits together. */
interface Kept {
  readonly name: StateName
  remember<T>(load: () => Reading<T>): Remembered<T>
  /** Reads it anew where its number has moved; whoever asks meanwhile gets one that is as new. */
  refresh(): Promise<void>
  readonly isRead: boolean
}

export function openMemory(
  look: <T>(read: () => Reading<T>) => Promise<T>,
  log: Pick<Log, 'warn'>,
): NodeMemory {
  const all = new Map<StateName, Kept>()
  const stale = new Set<StateName>()
  const closing = new AbortController()
  let catchingUp: Promise<void> | undefined

  async function refresh(names?: Iterable<StateName>): Promise<void> {
    const wanted = names && new Set(names)
    await Promise.all(
      [...all.values()]
        .filter((kept) => (wanted ? wanted.has(kept.name) : !kept.isRead))
        .map((kept) => kept.refresh()),
    )
  }

  async function catchUp(): Promise<void> {
    while (stale.size > 0 && !closing.signal.aborted) {
      const names = [...stale]
      stale.clear()
      try {
        await refresh(names)
      } catch (error) {
        log.warn({ err: error, names }, 'what others changed cannot be read; it is tried again')
        for (const name of names) stale.add(name)
        await pause(SECOND, closing.signal)
      }
    }
    // In the same step as the last look at what is stale: who comes from here on begins anew.
    catchingUp = undefined
  }

  return {
    remember(name, load) {
      let kept = all.get(name)
      if (!kept) all.set(name, (kept = keep(look, name)))
      return kept.remember(load)
    },
    refresh,
    refreshSoon(names) {
      for (const name of names) stale.add(name)
      if (stale.size > 0 && !closing.signal.aborted) catchingUp ??= catchUp()
    },
    async close() {
      closing.abort()
      await catchingUp
    },
  }
}

/** A value with the number of its state when it was read; undefined before that. */
interface Value {
  readonly load: () => Reading<unknown>
  held: { value: unknown; state: number | undefined } | undefined
}

/** What is kept of one state is read by one reading at a time. */
function keep(look: <R>(read: () => Reading<R>) => Promise<R>, name: StateName): Kept {
  const values: Value[] = []
  let reading: Promise<void> | undefined
  /** A reading that was asked for while another was under way, which may be too old for it. */
  let following: Promise<void> | undefined

  async function read(): Promise<void> {
    const asked = [...values]
    const found = await look(function* () {
      const state = yield* value(valueOf, { name })
      const all: Value['held'][] = []
      for (const { load, held } of asked)
        all.push(held && held.state === state ? held : { value: yield* load(), state })
      return all
    })
    // In one step: a key is never there without its subscriber.
    asked.forEach((one, at) => {
      one.held = found[at]
    })
  }

  function begin(): Promise<void> {
    reading = read().finally(() => {
      reading = undefined
    })
    return reading
  }

  return {
    name,
    get isRead() {
      return values.every(({ held }) => held !== undefined)
    },
    refresh() {
      // Between the end of one reading and the start of the next there is none, but one is to come:
      // a third one beside it could end after it with what is older.
      if (following) return following
      if (!reading) return begin()
      const again = () => {
        following = undefined
        return begin()
      }
      following = reading.then(again, again)
      return following
    },
    remember<T>(load: () => Reading<T>) {
      const own: Value = { load, held: undefined }
      values.push(own)
      return withReading(
        () => {
          if (!own.held) throw new Error(`what is kept of ${name} was not read yet`)
          return own.held.value as T
        },
        { name, load, stateOf: () => own.held?.state },
      )
    },
  }
}
