/** Numbers things from 1, each the same way for as long as it lives; a number keeps none alive. */
export function numbering<T extends object>(): (thing: T) => number {
  const numbers = new WeakMap<T, number>()
  let last = 0
  return (thing) => {
    let number = numbers.get(thing)
    if (number === undefined) numbers.set(thing, (number = ++last))
    return number
  }
}
