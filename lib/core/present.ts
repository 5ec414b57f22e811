/**
 * A value that the code before it has made sure of. For places where no type can say so; never for
 * what comes from outside, nor in a loop over rows.
 * @throws an error of ours, which names what is missing
 */
export function present<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`${what} is missing: this is a bug`)
  return value
}
