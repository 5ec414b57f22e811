/** How much memory a process took. */
import { readFileSync } from 'node:fs'

/**
 * Bytes. What the system counts for a process begins with what its parent had when it was forked;
 * for its own program Linux counts anew.
 */
export function mostMemory(): number {
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS) * 1_024
}
