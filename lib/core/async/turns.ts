/** Work of the same name, one after the other. */

export type TakeTurns = <R>(name: string, work: () => Promise<R>) => Promise<R>

export interface TurnsOptions {
  /** Milliseconds for which work waits for its turn. */
  patience?: number
  /** What is thrown when it did not come: then the work is not begun. */
  late?: () => Error
}

/** Begins work once all of its name that came before has ended, well or badly. */
export function turnsByName({
  patience = Infinity,
  late = () => new Error('its turn did not come'),
}: TurnsOptions = {}): TakeTurns {
  const ends = new Map<string, Promise<void>>()
  return async (name, work) => {
    const before = ends.get(name)
    let isGivenUp = false
    const result = (before ?? Promise.resolve()).then(() => (isGivenUp ? null : work()))
    const end = result.then(
      () => {},
      () => {},
    )
    ends.set(name, end)
    // Whoever comes later still waits for who is before this one.
    void end.then(() => {
      if (ends.get(name) === end) ends.delete(name)
    })
    if (before && patience < Infinity && !(await comes(before, patience))) {
      isGivenUp = true
      throw late()
    }
    return result as ReturnType<typeof work>
  }
}

/** Whether it ends within so many milliseconds. */
async function comes(turn: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms)
  })
  try {
    return await Promise.race([turn.then(() => true), over])
  } finally {
    clearTimeout(timer)
  }
}
