/** The keys of fraud signals of an installation in one folder: files in `keys/`, outside the database. */
import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../core/errors.js'
import { writeKeyFile } from '../../core/storage/secrets.js'
import type { Reading } from '../../db/query.js'
import { LOCAL, firstKey, isKeyName, isWhole } from './keys.js'
import type { KeyStore, KeyTexts } from './keys.js'

type Random = (bytes: number) => Buffer

/** The keys of a state folder. */
export function keysInFiles(dir: string, random: Random): KeyStore {
  const keys = join(dir, 'keys')
  const placeOf = (name: string) => join(keys, name)
  // oxlint-disable-next-line require-yield
  function* texts(): Reading<KeyTexts> {
    const names = existsSync(keys) ? readdirSync(keys).filter(isKeyName) : []
    const textOf = (name: string) => (name === LOCAL ? read : readOrEmpty)(placeOf(name))
    return { byName: new Map(names.map((name) => [name, textOf(name)])), placeOf }
  }

  return {
    texts,
    *withFirst() {
      if (!existsSync(placeOf(LOCAL))) makeFirstKey(dir, random)
      return yield* texts()
    },
    async write(_, name, text) {
      writeKeyFile(placeOf(name), text)
    },
    async remove(_, name) {
      rmSync(placeOf(name), { force: true })
    },
  }
}

const read = (path: string) => readFileSync(path, 'utf8')

/** Empty where it cannot be read: then the others are not concerned. */
function readOrEmpty(path: string): string {
  try {
    return read(path)
  } catch {
    return ''
  }
}

/**
 * Makes the first local key, unless another process does so at this moment: then its key is the
 * one.
 */
export function makeFirstKey(dir: string, random: Random): void {
  const path = join(dir, 'keys', LOCAL)
  const draft = `${path}.${randomUUID()}`
  mkdirSync(join(dir, 'keys'), { recursive: true, mode: 0o700 })
  try {
    writeKeyFile(draft, firstKey(random))
    // Whole or not at all, and never in the place of one that is there.
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * The files of a folder of keys that are kept for fraud signals, by name. Throws for one that is
 * damaged.
 */
export function fraudKeyFiles(keysDir: string): Map<string, string> {
  const names = existsSync(keysDir) ? readdirSync(keysDir).filter(isKeyName) : []
  return new Map(
    names.map((name) => {
      const text = readFileSync(join(keysDir, name), 'utf8').trim()
      if (!isWhole(name, text)) throw new Error(`${join(keysDir, name)} is damaged`)
      return [name, text]
    }),
  )
}
