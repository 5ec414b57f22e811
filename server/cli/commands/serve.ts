import { inTime, pause } from '../../../lib/core/async/wait.js'
import { MINUTE } from '../../../lib/core/clock.js'
import { codeOf } from '../../../lib/core/errors.js'
import type { App } from '../../../lib/app/open.js'
import { open } from '../../../lib/app/open.js'
import { parseAllowlistEntry } from '../../../lib/accounts/allowlist.js'
import { parsePublicUrl } from '../../../lib/objects/disk.js'
import { createStartingServer } from '../../http/app.js'
import type { Server, ServerOptions } from '../../http/app.js'
import { linkAddress, rememberAddress } from '../../../lib/console/address.js'
import { firstLink } from '../../../lib/console/links.js'
import type { LinkKind } from '../../../lib/console/links.js'
import { UsageError, list, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { egressFromEnvironment, logLevel, serversFromEnvironment } from '../../env.js'
import { descriptorLimit, roomFor } from '../../http/connections.js'
import { listen } from '../../http/listen.js'
import type { Listening, ListenOptions } from '../../http/listen.js'
import { openStarting } from '../../http/starting.js'
import { ADMIN_OPTIONS, adminPlace, listenForAdmin } from '../../admin/listen.js'
import type { AdminPlace } from '../../admin/listen.js'
import { openLog } from '../../log.js'
import { prepareObjects } from '../../object-store.js'
import { environmentOf, placesOf } from '../../places.js'
import { startUp } from '../../start-up.js'
import { openWatching } from '../../watching.js'
import type { Watching } from '../../watching.js'
import { watchFiles } from '../../watch-files.js'

export const SERVE_OPTIONS = {
  options: {
    port: { type: 'string' },
    host: { type: 'string' },
    'public-url': { type: 'string' },
    'trust-proxy': { type: 'string', multiple: true },
    'trust-proxy-direct': { type: 'boolean' },
    'database-file': { type: 'string' },
    objects: { type: 'string' },
    'journal-copy': { type: 'boolean' },
    'access-log': { type: 'string' },
    ...ADMIN_OPTIONS.options,
  },
  help: {
    port: 'port to listen on, 8080 by default; 0 takes a free one',
    host: 'address to listen on, 127.0.0.1 by default',
    'public-url':
      'address at which callers reach this server, for URLs of files and openapi.json; the ' +
      'one it listens on by default',
    'trust-proxy':
      'address or CIDR range of a proxy whose X-Forwarded-For is believed; may be repeated',
    'trust-proxy-direct': 'a trusted proxy may also call for itself, without X-Forwarded-For',
    'database-file':
      'file with the address of a PostgreSQL that several nodes share, postgres://...; --dir is then ' +
      "this node's own, and may be lost (also QUARTERMASTER_DATABASE_FILE)",
    objects: 'bucket, as s3://BUCKET/PREFIX, in place of QUARTERMASTER_S3_BUCKET and _PREFIX',
    'journal-copy':
      'keep a second copy of the order journal in the bucket of QUARTERMASTER_S3_*, and ' +
      'compare with it at the start (also QUARTERMASTER_JOURNAL_COPY=1)',
    'access-log':
      'file to which a JSON line is appended for each request, opened anew on SIGHUP; - for ' +
      'standard output; none by default',
    ...ADMIN_OPTIONS.help,
  },
} as const

/** Where a server answers: the API, and the admin listener, null where there is none. */
export interface Addresses {
  url: string
  admin: string | null
  /** The console's address, or a link while nobody has a password; null where there is none. */
  console: string | null
}

/**
 * Milliseconds that the start waits for the verdict on the object store: what is set wrong is best
 * told before anything is served, and one that does not answer holds nobody up.
 */
const CHECK = 100

/**
 * Milliseconds for which one of several nodes still answers when it is told to stop: until the proxy
 * before it has asked whether it is ready, and sends the next requests elsewhere.
 */
const GRACE = 5_000

/** Opens the folder, prepares it, serves until the process is told to stop. */
export async function serve(
  { dir, values, out }: Invocation,
  announce: (app: App, addresses: Addresses) => void,
  prepare: (app: App) => Promise<void> = async () => {},
  firstLinkKind: LinkKind = 'set_password',
): Promise<void> {
  const { place, proxies, publicUrl, adminAt, accessLog } = settingsIn(values)
  const log = openLog(logLevel())
  const placed = {
    databaseFile: optional(values, 'database-file'),
    objects: optional(values, 'objects'),
    journalCopy: values['journal-copy'] === true,
  }
  const places = placesOf(placed)
  const app = await open({
    dir,
    log,
    actor: 'server',
    ...(publicUrl !== undefined && { publicUrl }),
    ...egressFromEnvironment(),
    ...serversFromEnvironment(),
    ...places,
  })
  const room = roomFor(descriptorLimit())
  const starting = openStarting()
  const stopping = new AbortController()
  let listening: Listening
  let watching: Watching | undefined
  let checked: Promise<void>
  try {
    refuseStray(app)
    if (!app.ctx.engine.lock('serve'))
      throw new UsageError(`another process serves ${app.dir}; one folder has one server`)
    // The worker begins to read the snapshot while this thread gets ready to listen; whoever waits
    // for it is told of what fails.
    app.ctx.catalog.first().catch(() => {})
    checked = prepareObjects(places, log)
    await inTime(() => checked, { ms: CHECK, late: () => {} })
    await prepare(app)
    watching = await openWatching(app, { isCounting: adminAt !== null, accessLog })
    const observe = watching.observe && { observe: watching.observe }
    listening = await listenAt(createStartingServer(app, starting, { ...proxies, ...observe }), {
      ...place,
      connections: atMost(room.api, app),
    })
  } catch (error) {
    await watching?.close()
    await app.close()
    throw error
  }
  // Every address of the machine is none that a caller could use.
  app.listensAt(listening.url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//localhost:'))
  const stopped = stopOnSignal(listening, {
    out,
    stopping,
    grace: app.ctx.engine.lead === null ? 0 : GRACE,
  })
  const admin = await listenForAdmin(app, adminAt, {
    out,
    stopping: stopping.signal,
    metrics: watching.metrics,
    connections: atMost(room.admin, app),
    environment: environmentOf(placed),
  })
  void startUp(app, starting, stopping.signal)
  const unwatch = watchFiles(app, { end: (code) => process.exit(code) })
  try {
    announce(app, {
      url: listening.url,
      admin: admin?.url ?? null,
      console: await consoleOf(app, { adminAt, admin, kind: firstLinkKind }),
    })
    await Promise.race([stopped, failureOf(checked)])
  } finally {
    unwatch()
    stopping.abort()
    await listening.close()
    await app.close()
    await watching.close()
    await admin?.close(0)
  }
}

/** Whoever has put a document there means it to be used: its distributor must not be missed. */
function refuseStray({ ctx }: App): void {
  const [file] = ctx.documents?.strayFiles ?? []
  if (file !== undefined)
    throw new Error(
      `${file} would not be used: nodes have documents in their database, and that lacks this one. ` +
        `\`quartermaster distributors add ${file}\` puts it there; or move the file away`,
    )
}

/** Where people reach the console: with a link while nobody has a password. */
async function consoleOf(
  { ctx }: App,
  { adminAt, admin, kind }: { adminAt: AdminPlace | null; admin: Listening | null; kind: LinkKind },
): Promise<string | null> {
  if (!adminAt || !admin || adminAt.console.off !== null) return null
  const url = adminAt.console.place.url ?? admin.url
  await rememberAddress(ctx, url)
  const link = await firstLink(ctx, kind)
  return link ? linkAddress(url, link.token) : url
}

/** Never resolves; rejects where the work fails. */
const failureOf = (work: Promise<void>): Promise<void> => work.then(() => new Promise(() => {}))

/** What the options say: where to listen, whom to believe, and the address that callers use. */
function settingsIn(values: Invocation['values']): {
  place: { port: number; host: string }
  proxies: Pick<ServerOptions, 'trustedProxies' | 'trustProxyDirect'>
  publicUrl: string | undefined
  adminAt: AdminPlace | null
  accessLog: string | undefined
} {
  const port = Number(optional(values, 'port') ?? 8080)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError('--port must be a number from 0 to 65535')
  const host = optional(values, 'host') ?? '127.0.0.1'
  const trustedProxies = list(values, 'trust-proxy').map((entry) =>
    parseAllowlistEntry(entry, '--trust-proxy'),
  )
  const trustProxyDirect = values['trust-proxy-direct'] === true
  if (trustProxyDirect && trustedProxies.length === 0)
    throw new UsageError('--trust-proxy-direct needs --trust-proxy: name the proxies')
  return {
    place: { port, host },
    accessLog: optional(values, 'access-log'),
    adminAt: adminPlace(values, { port, host }),
    proxies: { trustedProxies, trustProxyDirect },
    publicUrl: publicUrlOf(optional(values, 'public-url')),
  }
}

/** Says once a minute that callers are turned away. */
function atMost(most: number, { ctx }: App): NonNullable<ListenOptions['connections']> {
  let told = -Infinity
  return {
    most,
    onDrop() {
      if (ctx.monotonic() - told < MINUTE) return
      told = ctx.monotonic()
      ctx.log.warn(
        { connections: most },
        'callers are turned away: no more connections fit beside the files; raise the limit of ' +
          'open files with `ulimit -n`',
      )
    },
  }
}

async function listenAt(server: Server, place: ListenOptions): Promise<Listening> {
  return listen(server, place).catch((error: unknown) => {
    const fault = listenFault(codeOf(error), place)
    throw fault === null ? error : new UsageError(fault)
  })
}

function listenFault(code: string, { port, host }: ListenOptions): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is taken; choose another with --port, or 0 for a free one`
    case 'EACCES':
      return (
        `port ${port} may not be used by this user: choose one above 1023 with --port, and put a ` +
        'proxy in front'
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return (
        `--host: "${host}" is not an address of this machine; 127.0.0.1 is for a proxy on it, ` +
        '0.0.0.0 for all addresses'
      )
    default:
      return null
  }
}

function publicUrlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return parsePublicUrl(text)
  } catch (error) {
    throw new UsageError(`--public-url: ${(error as Error).message}`)
  }
}

/**
 * Waits for SIGTERM or SIGINT and drains; a second signal ends at once. For `grace` milliseconds it
 * goes on answering, and says that it is not ready.
 */
function stopOnSignal(
  listening: Listening,
  { out, stopping, grace }: { out: Invocation['out']; stopping: AbortController; grace: number },
): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      if (stopping.signal.aborted) process.exit(1)
      stopping.abort()
      out.line('Stopping.')
      void pause(grace)
        .then(() => listening.close())
        .then(resolve)
    }
    process.on('SIGTERM', stop)
    process.on('SIGINT', stop)
  })
}

export const serveCommand: Command = {
  name: 'serve',
  summary: 'Serve the API from a state folder, which is made where there is none',
  effect: 'serves',
  ...SERVE_OPTIONS,
  example: 'quartermaster serve --dir /srv/quartermaster --port 8080 --trust-proxy 10.0.0.0/24',
  run: (invocation) =>
    serve(invocation, (_app, { url, admin, console }) => {
      invocation.out.line(`Quartermaster serves ${url}/v1`)
      if (admin !== null) invocation.out.line(`Health: ${admin}/readyz`)
      if (console !== null) invocation.out.line(`Console: ${console}`)
      invocation.out.result({ url, admin, console })
    }),
}
