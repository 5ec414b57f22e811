/** Who was sending when: every process writes a line when a send begins and when it ends. */
import { existsSync, readFileSync } from 'node:fs'

/**
 * Faults of a trace: a process that began to send while another had not ended its own, and was not
 * dead. A process that writes nothing afterwards was dead.
 */
export function overlapsIn(file: string): string[] {
  if (!existsSync(file)) return []
  const lines = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ') as [string, string])
  const last = new Map(lines.map(([, pid], i) => [pid, i]))
  const open = new Map<string, number>()
  const faults: string[] = []
  lines.forEach(([what, pid], i) => {
    if (what === 'ends') return void open.set(pid, (open.get(pid) ?? 0) - 1)
    for (const [other, count] of open) {
      if (other !== pid && count > 0 && last.get(other)! > i)
        faults.push(
          `line ${i + 1}: process ${pid} began a send while ${other} had ${count} under way`,
        )
    }
    open.set(pid, (open.get(pid) ?? 0) + 1)
  })
  return faults
}

/** How often the sending went from one process to another. */
export function changesIn(file: string): number {
  if (!existsSync(file)) return 0
  const pids = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[1])
  return pids.filter((pid, i) => i > 0 && pid !== pids[i - 1]).length
}
