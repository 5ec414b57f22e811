/** Everything that is read from the environment, in one place. */
import { readFileSync } from 'node:fs'
import { codeOf } from '../lib/core/errors.js'
import { readEgress } from '../lib/distributors/session/egress.js'
import type { OperatorEgress } from '../lib/distributors/session/egress.js'
import type { MailServer } from '../lib/distributors/session/mail.js'
import type { OwnServers } from '../lib/distributors/servers.js'
import type { S3Options } from '../lib/objects/s3-calls.js'
import { UsageError } from './cli/command.js'

/**
 * A variable that holds a secret, or the file that NAME_FILE names: what a container's secrets are
 * given as, so that no list of processes or settings shows them. White space around the text does
 * not count. Empty variables count as none. Throws a UsageError where both are given, or where the
 * file cannot be read or has nothing in it.
 */
function secret(name: string, fileName: string): string | undefined {
  const [text, file] = [process.env[name] || undefined, process.env[fileName] || undefined]
  if (file === undefined) return text
  if (text !== undefined)
    throw new UsageError(`${name} and ${fileName} are both set: set one of them`)
  let held: string
  try {
    held = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`${fileName}: ${file} cannot be read (${codeOf(error) ?? String(error)})`)
  }
  if (held === '') throw new UsageError(`${fileName}: ${file} is empty`)
  return held
}

/**
 * The state folder: `--dir`, else QUARTERMASTER_DIR, else ./var. An empty variable counts as none:
 * it would be the working folder.
 */
export function stateDir(option: string | undefined): string {
  return option ?? (process.env['QUARTERMASTER_DIR'] || './var')
}

/**
 * QUARTERMASTER_SECRET_KEY, or the file of QUARTERMASTER_SECRET_KEY_FILE: 64 hex digits instead of
 * the folder's own key file. Throws a UsageError for any other text.
 */
export function secretKeyFromEnvironment(): { secretKey?: string } {
  const held = secret('QUARTERMASTER_SECRET_KEY', 'QUARTERMASTER_SECRET_KEY_FILE')
  // An empty key is a wrong one: the folder's own file must not take its place unseen.
  const key = held ?? process.env['QUARTERMASTER_SECRET_KEY']
  if (key === undefined) return {}
  if (!/^[0-9a-f]{64}$/i.test(key))
    throw new UsageError('QUARTERMASTER_SECRET_KEY must be 64 hex digits')
  return { secretKey: key }
}

/**
 * QUARTERMASTER_DATABASE, or the file of QUARTERMASTER_DATABASE_FILE: the address of the PostgreSQL
 * that several nodes share; undefined where the folder has everything. Throws a UsageError.
 */
export function databaseFromEnvironment(): string | undefined {
  return secret('QUARTERMASTER_DATABASE', 'QUARTERMASTER_DATABASE_FILE')
}

/**
 * QUARTERMASTER_EGRESS_PROXY (`http://user:password@host:port`) and QUARTERMASTER_EGRESS_ADDRESS: how
 * distributors are reached that approve addresses. QUARTERMASTER_PRIVATE_HOSTS: hosts of documents that
 * may have a private address. QUARTERMASTER_MAIL_SERVER, _FROM and _CA (a file): where orders by mail
 * go. An empty variable counts as none. Proxy and mail server, which may have passwords in them, may
 * come from files: _FILE.
 */
export function egressFromEnvironment(): { egress?: OperatorEgress } {
  const proxy = secret('QUARTERMASTER_EGRESS_PROXY', 'QUARTERMASTER_EGRESS_PROXY_FILE')
  const sourceAddress = process.env['QUARTERMASTER_EGRESS_ADDRESS'] || undefined
  const hosts = (process.env['QUARTERMASTER_PRIVATE_HOSTS'] ?? '').split(/[\s,]+/).filter(Boolean)
  const mail = mailFromEnvironment()
  const egress = {
    ...(proxy !== undefined && { proxy }),
    ...(sourceAddress !== undefined && { sourceAddress }),
    ...(hosts.length > 0 && { privateHosts: hosts.map((host) => host.toLowerCase()) }),
    ...(mail && { mail }),
  }
  return Object.keys(egress).length === 0 ? {} : { egress: checked(egress) }
}

/** The variable of each part, for what `readEgress` says of it. */
const EGRESS_VARIABLES: readonly [RegExp, string][] = [
  [/^egress\.proxy: /, 'QUARTERMASTER_EGRESS_PROXY'],
  [/^egress\.sourceAddress: /, 'QUARTERMASTER_EGRESS_ADDRESS'],
  [/^mail: (?=")/, 'QUARTERMASTER_MAIL_FROM'],
  [/^mail: /, 'QUARTERMASTER_MAIL_SERVER'],
]

/** Throws a UsageError that names the variable. */
function checked(egress: OperatorEgress): OperatorEgress {
  try {
    readEgress(egress)
    return egress
  } catch (error) {
    const { message } = error as Error
    const known = EGRESS_VARIABLES.find(([pattern]) => pattern.test(message))
    throw new UsageError(known ? message.replace(known[0], `${known[1]}: `) : message)
  }
}

function mailFromEnvironment(): MailServer | undefined {
  const server = secret('QUARTERMASTER_MAIL_SERVER', 'QUARTERMASTER_MAIL_SERVER_FILE')
  const from = process.env['QUARTERMASTER_MAIL_FROM'] || undefined
  const file = process.env['QUARTERMASTER_MAIL_CA'] || undefined
  if (server === undefined) return undefined
  if (from === undefined)
    throw new UsageError('QUARTERMASTER_MAIL_FROM: give the address that messages are from')
  return { server, from, ...(file !== undefined && { ca: certificateIn(file) }) }
}

function certificateIn(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`QUARTERMASTER_MAIL_CA: cannot read ${file} (${codeOf(error)})`)
  }
}

/**
 * QUARTERMASTER_SERVERS: addresses of distributors in place of those that are known, as
 * `RSR=ftpes://ftps.example:2222 LIP=https://api.example/api/`. Throws a UsageError.
 */
export function serversFromEnvironment(): { servers?: OwnServers } {
  const words = (process.env['QUARTERMASTER_SERVERS'] ?? '').split(/[\s,]+/).filter(Boolean)
  if (words.length === 0) return {}
  const servers: Record<string, { api?: string; files?: string }> = {}
  for (const word of words) {
    const [, distid, address, scheme] = /^([^=]+)=(([a-z]+):\/\/.+)$/.exec(word) ?? []
    const kind = scheme === undefined ? null : scheme.startsWith('ftp') ? 'files' : 'api'
    if (distid === undefined || kind === null || servers[distid]?.[kind] !== undefined)
      throw new UsageError(
        `QUARTERMASTER_SERVERS: "${word}" is ${kind === null ? 'not an address' : 'one too many'}: ` +
          'give each as RSR=ftpes://host:port or LIP=https://host/path/, with blanks between them',
      )
    servers[distid] = { ...servers[distid], [kind]: address }
  }
  return { servers }
}

/** The variable of a file that may hold the secret of the first one. */
const S3_FILES: Readonly<Record<string, string>> = {
  QUARTERMASTER_S3_ACCESS_KEY: 'QUARTERMASTER_S3_ACCESS_KEY_FILE',
  QUARTERMASTER_S3_SECRET_KEY: 'QUARTERMASTER_S3_SECRET_KEY_FILE',
}

/** What stands in QUARTERMASTER_S3_*: where files are kept that callers download. */
export type S3Environment = Omit<S3Options, 'now'>

/** What `--objects s3://BUCKET/PREFIX` says. */
export interface S3Place {
  bucket?: string
  prefix?: string
}

/** The variable of each setting, and what belongs there. */
const S3_NEEDED = {
  endpoint: [
    'QUARTERMASTER_S3_ENDPOINT',
    'the address of the S3 server, as https://s3.eu-central-1.amazonaws.com or ' +
      'http://10.0.0.5:9000',
  ],
  bucket: ['QUARTERMASTER_S3_BUCKET', 'the name of a private bucket that is there'],
  region: [
    'QUARTERMASTER_S3_REGION',
    'the region of the bucket; us-east-1 where the server has none',
  ],
  accessKey: ['QUARTERMASTER_S3_ACCESS_KEY', 'the access key'],
  secretKey: ['QUARTERMASTER_S3_SECRET_KEY', 'the secret key of that access key'],
} as const
const S3_OPTIONAL = {
  pathStyle: 'QUARTERMASTER_S3_PATH_STYLE',
  publicEndpoint: 'QUARTERMASTER_S3_PUBLIC_ENDPOINT',
  prefix: 'QUARTERMASTER_S3_PREFIX',
} as const

/**
 * QUARTERMASTER_S3_ENDPOINT (`http(s)://host[:port]`), _BUCKET, _REGION, _ACCESS_KEY and
 * _SECRET_KEY; if wanted _PATH_STYLE (1, the default, for `https://host/bucket/key`; 0 for
 * `https://bucket.host/key`), _PUBLIC_ENDPOINT (where callers reach the server, when that is
 * elsewhere) and _PREFIX (before every key). Null when none of them is set: files are kept in the
 * state folder. An empty variable counts as none. The two keys may come from files: _FILE. Throws a
 * UsageError that names what is missing. `place` is bucket and prefix that an option names.
 */
export function s3FromEnvironment(place: S3Place = {}): S3Environment | null {
  const said: Record<string, string | undefined> = {
    [S3_NEEDED.bucket[0]]: place.bucket,
    [S3_OPTIONAL.prefix]: place.prefix,
  }
  const read = (name: string) => {
    if (said[name] !== undefined) return said[name]
    const file = S3_FILES[name]
    return file === undefined ? process.env[name] || undefined : secret(name, file)
  }
  const names = [...Object.values(S3_NEEDED).map(([name]) => name), ...Object.values(S3_OPTIONAL)]
  const given = names.filter((name) => read(name) !== undefined)
  if (given.length === 0) return null
  const needed = (setting: keyof typeof S3_NEEDED): string => {
    const [name, meaning] = S3_NEEDED[setting]
    const value = read(name)
    if (value === undefined)
      throw new UsageError(
        `${name} is missing, but ${given.join(', ')} ${given.length === 1 ? 'is' : 'are'} ` +
          `set: set it to ${meaning}, or unset all QUARTERMASTER_S3_* to keep files in the ` +
          'state folder',
      )
    return value
  }
  const [pathStyle, publicEndpoint, prefix] = [
    read(S3_OPTIONAL.pathStyle) ?? '1',
    read(S3_OPTIONAL.publicEndpoint),
    read(S3_OPTIONAL.prefix),
  ]
  if (pathStyle !== '0' && pathStyle !== '1')
    throw new UsageError(
      `${S3_OPTIONAL.pathStyle} must be 1 (https://host/bucket/key) or 0 (https://bucket.host/key)`,
    )
  return {
    endpoint: needed('endpoint'),
    bucket: needed('bucket'),
    region: needed('region'),
    accessKey: needed('accessKey'),
    secretKey: needed('secretKey'),
    pathStyle: pathStyle === '1',
    ...(publicEndpoint !== undefined && { publicEndpoint }),
    ...(prefix !== undefined && { prefix }),
  }
}

/** The variable that holds a setting of S3. */
export function s3Variable(setting: string): string | undefined {
  return (
    {
      ...Object.fromEntries(Object.entries(S3_NEEDED).map(([key, [name]]) => [key, name])),
      ...S3_OPTIONAL,
    } as Record<string, string>
  )[setting]
}

/**
 * QUARTERMASTER_JOURNAL_COPY: 1 keeps a second copy of the order journal in the bucket of
 * QUARTERMASTER_S3_*.
 */
export function wantsJournalCopy(): boolean {
  const text = process.env['QUARTERMASTER_JOURNAL_COPY'] || '0'
  if (text !== '0' && text !== '1')
    throw new UsageError(
      'QUARTERMASTER_JOURNAL_COPY must be 1 (keep a copy of the order journal in the bucket) or 0',
    )
  return text === '1'
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent']

/**
 * QUARTERMASTER_LOG: trace, debug, info, warn (default), error, silent. Throws a UsageError for any
 * other.
 */
export function logLevel(): string {
  const level = process.env['QUARTERMASTER_LOG'] || 'warn'
  if (!LOG_LEVELS.includes(level))
    throw new UsageError(
      `QUARTERMASTER_LOG: there is no level "${level}"; use one of ${LOG_LEVELS.join(', ')}`,
    )
  return level
}

/** Whether whoever started the program looks for a fault in it. */
export function isDebugging(): boolean {
  return process.env['QUARTERMASTER_LOG'] === 'debug'
}
