/**
 * The packages that go along as they are: those with native parts, which no bundle can hold, and the
 * driver of PostgreSQL, which nobody should have to read at a start who has one folder.
 */
import { cpSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageIn } from './packages.mjs'

/** Of these, the lockfile has a package for each platform. */
const DUCKDB = '@duckdb/node-bindings'

/** `pg`, with all that it stands on. */
const DRIVER = [
  'pg',
  'pg-connection-string',
  'pg-int8',
  'pg-pool',
  'pg-protocol',
  'pg-types',
  'pgpass',
  'postgres-array',
  'postgres-bytea',
  'postgres-date',
  'postgres-interval',
  'split2',
  'xtend',
]

/**
 * The packages for a platform (`linux-x64`), and which of their files run: not the sources that
 * they were compiled from, nor what is for other platforms. Which better-sqlite3 is needed depends
 * on Node (lib/db/sqlite/driver.ts); npm has installed the one that fits.
 */
const filesOf = (platform) => {
  const prebuilt = new RegExp(`^prebuilds/${platform.replace('-', '(musl)?-')}\\.node$`)
  const sqlite = /^(lib\/.*\.js|build\/Release\/better_sqlite3\.node)$/
  return {
    'better-sqlite3': [sqlite, prebuilt],
    'better-sqlite3-12': [sqlite, prebuilt],
    // Finds the native part of better-sqlite3 12.
    bindings: [/^bindings\.js$/],
    'file-uri-to-path': [/^index\.js$/],
    '@duckdb/node-api': [/^lib\/.*\.js$/],
    [DUCKDB]: [/^duckdb\.js$/],
    [`${DUCKDB}-${platform}`]: [/^[^/]+\.(node|so|dylib|dll)$/],
    // Tells DuckDB's bindings apart by the machine's libc.
    'detect-libc': [/^lib\/.*\.js$/],
    ...Object.fromEntries(
      DRIVER.map((name) => [name, [/^(lib|dist)\/[^.]*\.js$/, /^(?!test|bench)[^/]+\.js$/]]),
    ),
  }
}
const ALWAYS = /^(package\.json|licen[sc]e[^/]*|notice[^/]*)$/i

/**
 * Copies them into `node_modules` of a folder. `find` gives the folder of a package by its name, or
 * undefined where it is not to be had or not wanted. Tells the packages that it copied.
 */
export function copyNatives(to, platform, find) {
  const copied = []
  for (const [name, wanted] of Object.entries(filesOf(platform))) {
    const from = find(name)
    if (from === undefined || !existsSync(from)) continue
    for (const file of readdirSync(from, { recursive: true }))
      if (ALWAYS.test(file) || wanted.some((pattern) => pattern.test(file.replaceAll('\\', '/'))))
        cpSync(join(from, file), join(to, 'node_modules', name, file))
    copied.push(packageIn(from, `node_modules/${name}`))
  }
  return copied
}

/** Those that npm has installed here, for this machine. */
export const installed = (name) => join('node_modules', name)
