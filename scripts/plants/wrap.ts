/**
 * What the modules that plant a seam are made of; a bundle has it, and nothing that is shipped
 * does.
 */

/**
 * Stands in place of `real`. What a plant makes of a function or a class is made at its first use:
 * plants may import modules that import, by a detour, what they change.
 */
export function wrap(real: unknown, make: (real: unknown) => unknown): unknown {
  if (typeof real !== 'function') return make(real)
  let made: { it: object } | undefined
  const it = () => (made ??= { it: make(real) as object }).it
  return new Proxy(function () {}, {
    apply: (_, self, given) => Reflect.apply(it() as () => unknown, self, given) as unknown,
    construct: (_, given) => Reflect.construct(it() as new () => object, given) as object,
    get: (_, name) => Reflect.get(it(), name) as unknown,
  })
}
