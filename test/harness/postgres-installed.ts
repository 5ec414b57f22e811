/** Where Debian's package has PostgreSQL, and as whom it runs. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/usr/lib/postgresql'
export const SUPERUSER = 'postgres'

/** The folder of the newest version's programs; undefined where there is none. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(ROOT)) return undefined
  return readdirSync(ROOT)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(ROOT, version, 'bin'))
    .find((path) => existsSync(join(path, 'initdb')))
}

/** A server never runs as root: whom it then runs as. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync('id', [flag, SUPERUSER], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}
