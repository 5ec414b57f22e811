/** Where the admin listener listens, and that it never stands in the way of orders. */
import { codeOf } from '../../lib/core/errors.js'
import type { App } from '../../lib/app/open.js'
import { UsageError, list, optional } from '../cli/command.js'
import type { Invocation } from '../cli/command.js'
import { listen } from '../http/listen.js'
import type { Listening, ListenOptions } from '../http/listen.js'
import type { Console, ConsoleOptions } from '../console/console.js'
import { CONSOLE_OPTIONS, consoleSettings } from '../console/options.js'
import type { ConsoleSettings } from '../console/options.js'
import { createAdmin } from './admin.js'
import type { AdminOptions } from './admin.js'

/** Milliseconds in which a large file must have come. */
const UPLOAD = 600_000

const DEFAULT = { host: '127.0.0.1', port: 9464 } as const

export const ADMIN_OPTIONS = {
  options: {
    admin: { type: 'string' },
    'admin-host': { type: 'string', multiple: true },
    ...CONSOLE_OPTIONS.options,
  },
  help: {
    admin:
      'address and port of the listener for the console, health checks and metrics, ' +
      '127.0.0.1:9464 by default; port 0 takes a free one, none turns it off. Health checks ' +
      'and metrics ask for no key: keep it on this machine, or on a network of your own',
    'admin-host':
      'name by which that listener may be asked, beside those of this machine; may be repeated',
    ...CONSOLE_OPTIONS.help,
  },
} as const

export interface AdminPlace {
  host: string
  port: number
  hosts: readonly string[]
  console: ConsoleSettings
}

/**
 * What --admin says; null where it is off. Throws a UsageError, for the API's own port too: only
 * the default steps aside for it.
 */
export function adminPlace(
  values: Invocation['values'],
  api: { port: number; host: string },
): AdminPlace | null {
  const text = optional(values, 'admin')
  const hosts = list(values, 'admin-host')
  if (text === 'none') return null
  if (text === undefined)
    return DEFAULT.port === api.port
      ? null
      : { ...DEFAULT, hosts, console: consoleSettings(values, DEFAULT.host) }
  const [, literal, name, digits] =
    /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  const port = Number(digits)
  if (digits === undefined || port > 65_535)
    throw new UsageError(
      '--admin must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464, or none',
    )
  if (port !== 0 && port === api.port)
    throw new UsageError(`--admin must have another port than the API, which has ${api.port}`)
  const host = (literal ?? name ?? DEFAULT.host).toLowerCase()
  return { host, port, hosts: [...hosts, host], console: consoleSettings(values, host) }
}

/**
 * Listens. Where that cannot be, it says so and serves without: null. Orders do not depend on who
 * watches them.
 */
export async function listenForAdmin(
  app: App,
  place: AdminPlace | null,
  {
    out,
    connections,
    environment,
    ...options
  }: Pick<Invocation, 'out'> &
    Pick<ListenOptions, 'connections'> &
    Pick<ConsoleOptions, 'environment'> &
    Required<Pick<AdminOptions, 'stopping' | 'metrics'>>,
): Promise<Listening | null> {
  if (!place) return null
  const { host, port, console: settings } = place
  const { off, tls, place: reached } = settings
  const console = off === null ? consoleOnDemand(app, { ...reached, environment }) : undefined
  if (off !== null) app.ctx.log.warn({}, `no console: ${off}`)
  const hosts = [
    ...place.hosts,
    ...(reached.url === undefined ? [] : [new URL(reached.url).hostname]),
  ]
  try {
    return await listen(
      { nodeHandler: createAdmin(app, { hosts, console, ...options }) },
      { host, port, tls, connections, patience: { request: UPLOAD } },
    )
  } catch (error) {
    const why =
      codeOf(error) === 'EADDRINUSE'
        ? `port ${port} of ${host} is taken`
        : `${host}:${port}: ${(error as Error).message}`
    const message = `no health checks and no metrics: ${why}; choose another address with --admin, or none`
    app.ctx.log.warn({}, message)
    out.line(`Note: ${message}.`)
    return null
  }
}

/** Its code is loaded with the first request for it: no start waits for it. */
function consoleOnDemand(app: App, options: ConsoleOptions): Console {
  let made: Promise<Console> | undefined
  return async (request, response) => {
    made ??= import('../console/console.js').then(({ createConsole }) =>
      createConsole(app, options),
    )
    return (await made)(request, response)
  }
}
