/** Work of the same name, one after the other. */

export type TakeTurns = <R>(name: string, work: () => Promise<R>) => Promise<R>

/** Begins work once all of its name that came before has ended, well or badly. */
export function turnsByName(): TakeTurns {
  const ends = new Map<string, Promise<void>>()
  return async (name, work) => {
    const result = (ends.get(name) ?? Promise.resolve()).then(work)
    const end = result.then(
      () => {},
      () => {},
    )
    ends.set(name, end)
    try {
      return await result
    } finally {
      if (ends.get(name) === end) ends.delete(name)
    }
  }
}
