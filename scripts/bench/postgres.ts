/**
 * PostgreSQL as a yardstick: Debian's package, in a throwaway folder, asked through one psql
 * process.
 */
import { execFileSync, spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams, ExecFileSyncOptions } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { postgresPrograms, serverUser } from '../../test/harness/postgres-installed.js'

/**
 * Enough memory to hold the table and its indexes, and no JIT, which costs more than it saves here.
 */
const SETTINGS = [
  'shared_buffers=1GB',
  'work_mem=64MB',
  'jit=off',
  'random_page_cost=1.1',
  'fsync=off',
  'max_wal_size=4GB',
  'listen_addresses=',
  'autovacuum=off',
]

export interface Postgres {
  /** The throwaway folder, writable by us and readable by the server. */
  readonly dir: string
  /** Runs statements and gives the lines that they print, and the milliseconds that psql saw. */
  run(sql: string): Promise<{ lines: string[]; ms: number }>
  close(): Promise<void>
}

/** Starts a server; null where the package is not installed. */
export async function startPostgres(): Promise<Postgres | null> {
  const bin = postgresPrograms()
  if (!bin) return null
  const dir = mkdtempSync(join(tmpdir(), 'bench-pg-'))
  const owner = serverUser()
  const options: ExecFileSyncOptions = { stdio: 'ignore', cwd: dir, ...owner }
  if (owner) chownSync(dir, owner.uid, owner.gid)
  chmodSync(dir, 0o755)
  const data = join(dir, 'data')
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '--auth=trust', '--encoding=UTF8', '--locale=C', '--username=postgres'],
    options,
  )
  execFileSync(
    join(bin, 'pg_ctl'),
    [
      '-D',
      data,
      '-w',
      '-l',
      join(dir, 'log'),
      '-o',
      `-k ${dir} ${SETTINGS.map((setting) => `-c ${setting}`).join(' ')}`,
      'start',
    ],
    options,
  )
  const psql = spawn(
    join(bin, 'psql'),
    ['-h', dir, '-U', 'postgres', '-qAtX', '-v', 'ON_ERROR_STOP=1'],
    owner ? { cwd: dir, ...owner } : { cwd: dir },
  )
  return {
    dir,
    run: runner(psql),
    async close() {
      psql.stdin.end()
      execFileSync(join(bin, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], options)
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function runner(psql: ChildProcessWithoutNullStreams): Postgres['run'] {
  let lines: string[] = []
  let ms = 0
  let done: (() => void) | undefined
  let failed: ((error: Error) => void) | undefined
  createInterface({ input: psql.stdout }).on('line', (line) => {
    const time = /^Time: ([\d.]+) ms/.exec(line)
    if (time) ms += Number(time[1])
    else if (line === 'END') done?.()
    else lines.push(line)
  })
  let complaint = ''
  psql.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString()
  })
  psql.on('exit', () => failed?.(new Error(`psql ended: ${complaint}`)))
  psql.stdin.write('\\timing on\n')
  return (sql) =>
    new Promise((resolve, reject) => {
      lines = []
      ms = 0
      done = () => resolve({ lines, ms })
      failed = reject
      psql.stdin.write(`${sql}\n\\echo END\n`)
    })
}
