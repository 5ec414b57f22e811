/** The process that builds an export, seen from outside. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** Waits until something holds. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 120_000
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${String(isSo)}`)
    await new Promise((resolve) => {
      setTimeout(resolve, 2)
    })
  }
}

/** The process that builds an export for this one, once it is there. */
export async function childOf(pid: number): Promise<number> {
  let found: number[] = []
  await until(() => {
    found = buildersOf(pid)
    return found.length > 0
  })
  return found[0]!
}

/**
 * Waits until a server has no work of that kind left, such as the metrics of a demo that has just
 * started.
 */
export async function untilIdle(pid: number): Promise<void> {
  await until(() => buildersOf(pid).length === 0)
}

/** Known by what they run: until then a child is its parent's copy, and holds its sockets. */
function buildersOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`
  if (existsSync(path))
    return (readFileSync(path, 'utf8').match(/\d+/g) ?? [])
      .map(Number)
      .filter((child) => /duckdb/.test(commandOf(child)))
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)!)
  return lines
    .filter(([, , parent, command]) => Number(parent) === pid && /duckdb/.test(command!))
    .map(([, child]) => Number(child))
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** False also for a process that has ended and that nobody has waited for. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return (
      !existsSync(`/proc/${pid}/stat`) ||
      !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
    )
  } catch {
    return false
  }
}
