/** The systemd unit of data/operating, as systemd itself reads it. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const UNIT = join('data', 'operating', 'quartermaster.service')

/** The values of a setting, one for each line of it. */
export function settings(name: string): string[] {
  const lines = readFileSync(UNIT, 'utf8').split('\n')
  return lines
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1))
}

/** The calls of a set (`@system-service`), those of the sets in it too. */
function callsIn(set: string): string[] {
  const text = execFileSync('systemd-analyze', ['syscall-filter', '--no-pager', set], {
    encoding: 'utf8',
  })
  return text
    .split('\n')
    .filter((line) => /^ {4}[@\w]/.test(line))
    .map((line) => line.trim())
    .flatMap((name) => (name.startsWith('@') ? callsIn(name) : [name]))
}

/** The system calls that the unit permits. */
export function permittedCalls(): Set<string> {
  const permitted = new Set<string>()
  for (const value of settings('SystemCallFilter')) {
    const isTaken = value.startsWith('~')
    for (const set of value.replace('~', '').split(' '))
      for (const call of set.startsWith('@') ? callsIn(set) : [set]) {
        if (isTaken) permitted.delete(call)
        else permitted.add(call)
      }
  }
  return permitted
}
