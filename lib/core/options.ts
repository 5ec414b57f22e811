/** Options of the library's functions, which JavaScript would take whatever they are called. */
import { nearest } from './text.js'

/**
 * Throws a TypeError for an option that there is not, with the name that was meant; `of` is the
 * function.
 */
export function refuseUnknownOptions<T extends object>(
  of: string,
  options: T,
  known: Readonly<Record<keyof T, true>>,
): void {
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name)) continue
    const close = nearest(name, Object.keys(known))
    throw new TypeError(
      `${of} has no option ` +
        `"${name.slice(0, 60)}"${close === null ? '' : `; did you mean "${close}"?`}`,
    )
  }
}
