/** Everything that is read from the environment, in one place. */

/** The state folder: `--dir`, else QUARTERMASTER_DIR, else ./var. An empty variable counts as none: it would be the working folder. */
export function stateDir(option: string | undefined): string {
  return option ?? (process.env['QUARTERMASTER_DIR'] || './var')
}

/** QUARTERMASTER_SECRET_KEY: 64 hex digits instead of the folder's own key file. */
export function secretKeyFromEnvironment(): { secretKey?: string } {
  const key = process.env['QUARTERMASTER_SECRET_KEY']
  return key === undefined ? {} : { secretKey: key }
}

/** QUARTERMASTER_LOG: trace, debug, info, warn (default), error, silent. */
export function logLevel(): string {
  return process.env['QUARTERMASTER_LOG'] ?? 'warn'
}
