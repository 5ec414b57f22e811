/** Files that the documentation is made of: styles and scripts, the guide and its pictures. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { present } from '../../lib/core/present.js'

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
}

const OWN = ['docs.css', 'docs.js', 'icon.svg', 'reference.css', 'reference.js']
/** The properties that the console has its colors and sizes from, too. */
const TOKENS = 'tokens.css'

export interface Asset {
  /** Names its content, so that it can be kept for ever: `/docs/assets/docs-1f0c9a2b7d.css`. */
  address: string
  type: string
  body: Buffer
}

export interface Folders {
  own: string
  /** Has tokens.css. */
  style: string
  guide: string
}

/**
 * Seen from this module: from server/docs, from a bundle in dist/NAME, and from a transpiled tree
 * there.
 */
const TREES = ['../..', '../../../..']
const MARK = 'server/docs/assets/reference.js'

/** Within the folder of the command, which is whole by itself; beside those of the library. */
const BUILT = ['.', '..']

/**
 * In a working tree the files as they lie there; else those that the build put beside the bundles.
 */
export function findFolders(): Folders {
  const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const tree = TREES.map(at).find((root) => existsSync(join(root, MARK)))
  if (tree === undefined) {
    const built = BUILT.map(at).find((root) => existsSync(join(root, 'docs'))) ?? at('..')
    const within = (path: string) => join(built, path)
    return { own: within('docs'), style: within('docs'), guide: within('data/guide') }
  }
  return {
    own: join(tree, 'server/docs/assets'),
    style: join(tree, 'console/style'),
    guide: join(tree, 'data/guide'),
  }
}

/**
 * Every asset by its plain name (`docs.css`, `pictures/architecture.svg`), read once. No other file
 * can be had.
 */
export async function readAssets({
  own,
  style,
  guide,
}: Folders): Promise<ReadonlyMap<string, Asset>> {
  const pictures = (await readdir(join(guide, 'pictures'))).filter((name) => extname(name) in TYPES)
  const files = [
    ...OWN.map((name) => [name, join(own, name)]),
    [TOKENS, join(style, TOKENS)],
    ...pictures.map((name) => [`pictures/${name}`, join(guide, 'pictures', name)]),
  ] as [string, string][]
  return new Map(
    await Promise.all(
      files.map(async ([name, file]) => [name, assetOf(name, await readFile(file))] as const),
    ),
  )
}

/** The address under which an asset is had. */
export function assetAddress(assets: ReadonlyMap<string, Asset>, name: string): string {
  return present(assets.get(name), name).address
}

function assetOf(name: string, body: Buffer): Asset {
  const extension = extname(name)
  const stem = name.slice(name.lastIndexOf('/') + 1, -extension.length)
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 10)
  return {
    address: `/docs/assets/${stem}-${digest}${extension}`,
    type: present(TYPES[extension], `a type of ${extension}`),
    body,
  }
}
