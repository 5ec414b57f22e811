/** Reads of a page: what was read last is shown at once, and read anew behind it. */
import { signal } from '@preact/signals'
import type { ReadonlySignal, Signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Input, Operation, Output, ShopCall, ShopInput, ShopResult } from './api.js'
import { CallError, call, callShop, read } from './call.js'
import { useAgain } from './use-again.js'

export interface Reading<T> {
  data: T | undefined
  error: CallError | undefined
  /** Also while older data is shown. */
  isLoading: boolean
}

export interface Read<T> extends Reading<T> {
  reload(): Promise<void>
}

/** What was read lately, so that a page that is opened again does not begin empty. */
const KEPT = 60
const kept = new Map<string, Signal<Reading<unknown>>>()

function readingOf<T>(key: string): Signal<Reading<T>> {
  const known = kept.get(key)
  if (known) {
    kept.delete(key)
    kept.set(key, known)
    return known as Signal<Reading<T>>
  }
  const fresh = signal<Reading<T>>({ data: undefined, error: undefined, isLoading: true })
  kept.set(key, fresh as Signal<Reading<unknown>>)
  for (const old of kept.keys()) {
    if (kept.size <= KEPT) break
    kept.delete(old)
  }
  return fresh
}

/** Counts the times at which all that is shown was to be read anew. */
const anew = signal(0)

/** Has every page that is there read anew what it shows. */
export function readAnew(): void {
  anew.value++
}

/** Forgets all that was read: somebody else may sign in. */
export function forgetReadings(): void {
  kept.clear()
}

export function useReading<T>(key: string | null, get: () => Promise<T>, every?: number): Read<T> {
  const reading = useMemo(
    () =>
      key === null
        ? signal<Reading<T>>({ data: undefined, error: undefined, isLoading: false })
        : readingOf<T>(key),
    [key],
  )
  const reload = useMemo(() => () => refresh(reading, get), [key])
  useEffect(() => {
    if (key === null) return undefined
    void reload()
    if (every === undefined) return undefined
    const timer = window.setInterval(() => {
      if (!document.hidden) void reload()
    }, every)
    return () => window.clearInterval(timer)
  }, [key, every, anew.value])
  const now = (reading as ReadonlySignal<Reading<T>>).value
  useAgain(now.error, reload)
  return { ...now, reload }
}

async function refresh<T>(reading: Signal<Reading<T>>, get: () => Promise<T>): Promise<void> {
  reading.value = { ...reading.value, isLoading: true }
  try {
    reading.value = { data: await get(), error: undefined, isLoading: false }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    reading.value = { ...reading.value, error, isLoading: false }
  }
}

/** Reads an operation; null where there is nothing to ask yet. `every`: milliseconds. */
export function useCall<Op extends Operation>(
  name: Op,
  input: Input<Op> | null,
  { every }: { every?: number } = {},
): Read<Output<Op>> {
  const key = input === null ? null : `${name} ${JSON.stringify(input)}`
  return useReading(key, () => call(name, input as Input<Op>), every)
}

/** The same of an endpoint of /v1, as one shop sees it. */
export function useShop<Id extends ShopCall>(
  endpoint: Id,
  input: ShopInput | null,
): Read<ShopResult<Id>> {
  const key = input === null ? null : `shop/${endpoint} ${JSON.stringify(input)}`
  return useReading(key, () => callShop(endpoint, input!))
}

/** The same of an address. */
export function useAddress<T>(path: string): Read<T> {
  return useReading(path, () => read<T>(path))
}
