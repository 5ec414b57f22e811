/** Which Node the program needs. This file is read by every Node, so it imports nothing. */

/** The least minor release of each major one; those that are missing are not supported. */
const LEAST: Readonly<Record<number, number>> = { 20: 19, 22: 14 }
const NEWEST_EXCEPTION = 22

/** What is wrong with a version of Node (`20.19.0`), in one line; null for one that will do. */
export function nodeFault(version: string): string | null {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const least = major > NEWEST_EXCEPTION ? 0 : (LEAST[major] ?? Infinity)
  if (minor >= least) return null
  return (
    `Quartermaster needs Node 20.19, 22.14 or 24, or a later release of these, and this is Node ` +
    `${version} (${process.execPath}): install one of them from https://nodejs.org, and run ` +
    'the command with it'
  )
}
