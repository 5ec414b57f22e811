/**
 * Plants a bug without touching the source: the seam is an exported name of a module. Whoever
 * imports that name gets what the plant makes of it; the module itself stays as it is, so that no
 * reformat and no edit inside it breaks a plant, and nothing of it is ever in a build that is not
 * told of it.
 */
import { dirname, join, resolve } from 'node:path'
import type { Plugin } from 'esbuild'

/** What takes the place of an exported name. */
export interface Seam {
  /**
   * `lib/orders/place/split.ts#splitOrder`: a file from the root of the repository, and a name that it
   * exports.
   */
  readonly at: string
  /**
   * Makes the replacement out of the real thing. It may use nothing but its argument, and what its
   * own file imports.
   */
  readonly make: (real: never) => unknown
}

/** A bug, or whatever else a harness has to put into what it runs. */
export interface Planted {
  readonly name: string
  readonly seams: readonly Seam[]
  /** Suites of `test/` of which at least one must fail. */
  readonly suites?: readonly string[]
}

export interface Plant extends Planted {
  readonly suites: readonly string[]
}

const NAMESPACE = 'planted'
const WRAP = join('scripts', 'plants', 'wrap.ts')
const NEEDED = 'a constant is needed before the plants are there; have them import less'

/**
 * The esbuild plugin that plants it. `file` is the module that exports the lists of plants as
 * `PLANTS`. After the build, `missing()` names the seams that no bundle met: a plant that is
 * nowhere would seem to be caught by nobody. A build fails where a seam names what its module does
 * not export. One build may have several of them, as long as they share no module.
 */
export function planting(plant: Planted, file: string): { plugin: Plugin; missing(): string[] } {
  const places = new Map<string, Map<string, number>>()
  const waiting = new Set(plant.seams.map(({ at }) => at))
  plant.seams.forEach(({ at }, n) => {
    const [path, name] = at.split('#') as [string, string]
    const names = places.get(resolve(path)) ?? new Map<string, number>()
    places.set(resolve(path), names.set(name, n))
  })
  const plugin: Plugin = {
    name: 'plant',
    setup(build) {
      const { initialOptions } = build
      initialOptions.logOverride = { ...initialOptions.logOverride, 'import-is-undefined': 'error' }
      build.onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir, namespace }) => {
        const target = resolve(resolveDir, path).replace(/\.js$/, '.ts')
        // The wrapper itself imports the real module.
        return namespace !== NAMESPACE && places.has(target)
          ? { path: target, namespace: NAMESPACE }
          : undefined
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, ({ path }) => {
        const names = places.get(path)
        if (!names) return undefined
        const real = JSON.stringify(path.replace(/\.ts$/, '.js').replace(dirname(path), '.'))
        for (const n of names.values()) waiting.delete(plant.seams[n]!.at)
        const contents = [
          `import { PLANTS } from ${JSON.stringify(resolve(file))}`,
          `import * as real from ${real}`,
          `export * from ${real}`,
          `import { wrap } from ${JSON.stringify(resolve(WRAP))}`,
          `const is = ({ name }) => name === ${JSON.stringify(plant.name)}`,
          'const make = (n) => (it) => {',
          `  if (!PLANTS) throw new Error('NOT PLANTED: ' + ${JSON.stringify(NEEDED)})`,
          '  return PLANTS.find(is).seams[n].make(it)',
          '}',
          ...[...names].map(([name, n]) => `export const ${name} = wrap(real.${name}, make(${n}))`),
        ].join('\n')
        return { contents, loader: 'ts', resolveDir: dirname(path) }
      })
    },
  }
  return { plugin, missing: () => [...waiting] }
}
