/**
 * Milliseconds of a processor that this process has taken: what else the machine does plays no
 * part.
 */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
