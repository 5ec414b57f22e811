/**
 * Reads the address of a database: `postgres://user:password@host:port/database?sslmode=...`. What
 * cannot be read is named by its field alone, since the rest has a password in it.
 */
import { readFileSync } from 'node:fs'
import { codeOf } from '../../core/errors.js'
import type { TlsOptions } from './driver.js'

export interface Address {
  /** A name, an address, or the folder of a socket. */
  host: string
  port: number
  database: string
  user: string
  password: string | undefined
  tls: TlsOptions | false
  /** How long to wait for a connection, in milliseconds. */
  connectTimeout: number
}

const PORT = 5432
const CONNECT_TIMEOUT = 5_000
const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'host', 'connect_timeout']
const MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const
type Mode = (typeof MODES)[number]

/** Reads the text of a database file: one line. */
export function readAddress(text: string): Address {
  const line = text.trim()
  if (line === '') throw fault('the file is empty: it has one line, postgres://...')
  if (/[\r\n]/.test(line)) throw fault('the file has more than one line')
  if (!/^postgres(ql)?:\/\//.test(line)) throw fault('the address must begin with postgres://')
  if (!URL.canParse(line))
    throw fault(
      'the address cannot be read: in a user or a password, / : @ ? and # are written as %2F %3A ' +
        '%40 %3F and %23',
    )
  const url = new URL(line)
  const given = parametersOf(url)
  const host = decoded('host', given.get('host') ?? url.hostname.replace(/^\[(.*)\]$/, '$1'))
  const user = decoded('user', url.username)
  const database = decoded('database', url.pathname.slice(1))
  if (host === '') throw fault('host: is missing')
  if (user === '') throw fault('user: is missing')
  if (database === '' || database.includes('/'))
    throw fault('database: must be one name, behind the host')
  return {
    host,
    port: url.port === '' ? PORT : Number(url.port),
    database,
    user,
    password: url.password === '' ? undefined : decoded('password', url.password),
    tls: tlsOf(given, host),
    connectTimeout: secondsOf(given.get('connect_timeout')),
  }
}

const fault = (text: string) => new Error(`the address of the database: ${text}`)

function decoded(field: string, text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw fault(`${field}: cannot be read; a percent sign is written as %25`)
  }
}

function parametersOf(url: URL): Map<string, string> {
  const given = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (!PARAMETERS.includes(name))
      throw fault(`${/^\w{1,40}$/.test(name) ? name : 'a parameter'}: is not known here`)
    if (given.has(name)) throw fault(`${name}: is there twice`)
    given.set(name, value)
  }
  return given
}

/** Without a word about it, whoever is beyond this machine has to prove who it is. */
function tlsOf(given: Map<string, string>, host: string): TlsOptions | false {
  const isHere = host.startsWith('/') || /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)
  const mode = given.get('sslmode') ?? (isHere ? 'disable' : 'verify-full')
  if (!MODES.includes(mode as Mode))
    throw fault(`sslmode: must be one of ${MODES.join(', ')}: others may do without TLS unnoticed`)
  if (mode === 'disable') return false
  const [ca, cert, key] = ['sslrootcert', 'sslcert', 'sslkey'].map((name) => pemOf(name, given))
  return {
    rejectUnauthorized: mode !== 'require',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    // Whose certificate it is does not matter, only who signed it.
    ...(mode === 'verify-ca' && { checkServerIdentity: () => undefined }),
  }
}

function pemOf(name: string, given: Map<string, string>): string | undefined {
  const file = given.get(name)
  // `system` is what libpq calls the authorities that the machine trusts.
  if (file === undefined || file === 'system') return undefined
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw fault(`${name}: cannot read ${file} (${codeOf(error)})`)
  }
  if (!text.includes('-----BEGIN ')) throw fault(`${name}: ${file} is not a PEM file`)
  return text
}

function secondsOf(text: string | undefined): number {
  if (text === undefined) return CONNECT_TIMEOUT
  if (!/^[1-9]\d{0,2}$/.test(text)) throw fault('connect_timeout: must be 1 to 999 seconds')
  return Number(text) * 1000
}
