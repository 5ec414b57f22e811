/** What `open` is told, and what holds where it is not. */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { AnalyticsOptions } from '../analytics/ctx.js'
import { wholeMilliseconds } from '../core/clock.js'
import { silentLog } from '../core/log.js'
import type { Log } from '../core/log.js'
import { refuseUnknownOptions } from '../core/options.js'
import type { Distributor } from '../distributors/distributor.js'
import { builtin, presets } from '../distributors/builtin/index.js'
import { withDocuments } from '../distributors/document/kept/folder.js'
import type { ExporterOptions } from '../exports/exporter.js'
import { withServers } from '../distributors/servers.js'
import type { OwnServers } from '../distributors/servers.js'
import { readEgress } from '../distributors/session/egress.js'
import type { OperatorEgress } from '../distributors/session/egress.js'
import { parsePublicUrl } from '../objects/disk.js'
import type { StoreLimits } from '../objects/timeout-store.js'
import type { ObjectStore } from '../objects/store.js'
import type { EngineOptions } from '../orders/engine/engine.js'

export interface OpenOptions {
  /** The state folder, `./var` by default. It is made where there is none. */
  dir?: string
  /**
   * The address of a PostgreSQL that several nodes share, `postgres://user@host/database`: it has the
   * system of record then, and the folder is this node's own and may be lost. Needs `secretKey` and
   * `objects`, which all nodes share as well, and the package `pg`.
   */
  database?: string
  /** Milliseconds since 1970; a fraction is cut off. */
  now?: () => number
  /**
   * Milliseconds of a clock that never steps, a fraction is cut off; `now` itself where that is
   * given.
   */
  monotonic?: () => number
  random?: (bytes: number) => Buffer
  log?: Log
  /** The worker's file; false works on the calling thread. */
  worker?: string | false
  /** `[...builtin, mine]` adds one. Documents in the state folder add theirs. */
  distributors?: readonly Distributor[]
  /** Where files are kept that callers download; the state folder by default. */
  objects?: ObjectStore
  /**
   * A store outside of this machine that keeps a second copy of the order journal, such as
   * `s3Store`; none by default. A folder is refused.
   */
  journalCopy?: ObjectStore
  /**
   * The address at which callers reach the server, for the URLs of those files; the one that it
   * listens on by default.
   */
  publicUrl?: string
  /**
   * How connectors reach distributors: through the operator's own HTTP proxy
   * (`http://user:password@host:port`; FTP goes through none), or from one address of this machine,
   * for distributors that approve addresses. `mail` is the server by which orders go out as
   * messages, `privateHosts` are hosts of documents that may have a private address.
   */
  egress?: OperatorEgress
  /** Addresses of distributors in place of those that their connectors know, by distid. */
  servers?: OwnServers
  /** 64 hex digits that take the place of the folder's own key file. */
  secretKey?: string
  /**
   * Told of a disk error of the system of record; ends the process by default, since the outcome of
   * a commit is then not known.
   */
  fatal?: (error: unknown) => void
  /** Who acts, for the audit; `library` by default. */
  actor?: string
  /**
   * For tests of what goes wrong: free bytes of the disk, and named places at which the sender of
   * orders may end.
   */
  faults?: EngineOptions & {
    freeBytes?: () => number
    exports?: ExporterOptions
    analytics?: AnalyticsOptions
    objects?: StoreLimits
  }
}

const OPTIONS = {
  dir: true,
  database: true,
  now: true,
  monotonic: true,
  random: true,
  log: true,
  worker: true,
  distributors: true,
  objects: true,
  journalCopy: true,
  publicUrl: true,
  egress: true,
  servers: true,
  secretKey: true,
  fatal: true,
  actor: true,
  faults: true,
} as const

type Defaulted =
  | 'dir'
  | 'now'
  | 'monotonic'
  | 'random'
  | 'log'
  | 'distributors'
  | 'servers'
  | 'fatal'
  | 'actor'
  | 'faults'

/** The options with their defaults. */
export interface Settings
  extends
    Required<Pick<OpenOptions, Defaulted>>,
    Pick<OpenOptions, 'database' | 'worker' | 'objects' | 'journalCopy' | 'secretKey'> {
  publicUrl: PublicUrl
  egress: OperatorEgress
}

/** Throws for an option that there is not, and for a value that cannot be right. */
export function readOptions(options: OpenOptions): Settings {
  refuseUnknownOptions<Required<OpenOptions>>('open', options as Required<OpenOptions>, OPTIONS)
  if (options.journalCopy?.open)
    throw new Error(
      'journalCopy: a folder of this machine is rolled back together with it; ' +
        'give a store outside of it, such as s3Store',
    )
  if (options.database !== undefined) refuseOwnParts(options)
  const log = options.log ?? silentLog
  const dir = resolve(options.dir ?? './var')
  return {
    ...options,
    dir,
    log,
    now: wholeMilliseconds(options.now ?? Date.now),
    monotonic: wholeMilliseconds(options.monotonic ?? options.now ?? (() => performance.now())),
    random: options.random ?? randomBytes,
    ...distributorsOf(options, dir),
    publicUrl: new PublicUrl(options.publicUrl),
    egress: readEgress(options.egress ?? {}),
    fatal: options.fatal ?? ((error) => endProcess(log, error)),
    actor: options.actor ?? 'library',
    faults: options.faults ?? {},
  }
}

/**
 * The distributors, with the documents of the folder. Those of a database are known once it is open:
 * until then they lack their documents, and their own addresses.
 */
function distributorsOf(
  { database, distributors = builtin, servers = {} }: OpenOptions,
  dir: string,
): Pick<Settings, 'distributors' | 'servers'> {
  if (database !== undefined) return { distributors, servers }
  const all = withDocuments(distributors, dir, new Set(Object.keys(presets)))
  return { distributors: withServers(all, servers), servers }
}

/** What nodes share is shared wholly: a key or a folder of one of them would be nobody else's. */
function refuseOwnParts({ secretKey, objects }: OpenOptions): void {
  if (secretKey === undefined)
    throw new Error('secretKey: a database that nodes share needs the key that they share')
  if (objects === undefined || objects.open)
    throw new Error(
      'objects: nodes that share a database share the store of files, too; give one outside of ' +
        'this machine, such as s3Store',
    )
}

function endProcess(log: Log, error: unknown): never {
  log.error(
    { err: error },
    'the disk failed under the system of record: stopping, since it is not known what was ' +
      'committed',
  )
  process.exit(70)
}

/** The address at which callers reach the server. */
export class PublicUrl {
  /** The one that `open` was given; null where the server's own holds. */
  readonly given: string | null
  #current: string

  constructor(given: string | undefined) {
    this.#current = parsePublicUrl(given ?? 'http://localhost:8080')
    this.given = given === undefined ? null : this.#current
  }

  get current(): string {
    return this.#current
  }

  /** Told where the server listens. */
  listensAt(url: string): void {
    if (this.given === null) this.#current = parsePublicUrl(url)
  }
}
