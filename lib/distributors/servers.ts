/** Distributors at addresses that the operator gives: a distributor has moved, or has a second one. */
import type { Distributor } from './distributor.js'
import type { FtpServer } from './session/ftp.js'

/**
 * Where a distributor is instead: `api` is an `https:` address, `files` an `ftpes:` one (explicit
 * TLS), or `ftp:` where the distributor's own is without TLS. By distid.
 */
export type OwnServers = Readonly<
  Record<string, { readonly api?: string; readonly files?: string }>
>

/**
 * The distributors, with these addresses in place of their own; their own are called no more.
 * Throws for one that there is none of, that takes no such calls, and for what is no address.
 */
export function withServers(
  distributors: readonly Distributor[],
  servers: OwnServers,
): readonly Distributor[] {
  for (const distid of Object.keys(servers))
    if (!distributors.some((one) => one.distid === distid))
      throw new Error(
        `servers: "${distid}" is not a distributor; known are ` +
          distributors.map((one) => one.distid).join(', '),
      )
  return distributors.map((distributor) => {
    const { api, files } = servers[distributor.distid] ?? {}
    return {
      ...distributor,
      ...(api !== undefined && { api: { url: apiOf(distributor, api) } }),
      ...(files !== undefined && { files: filesOf(distributor, files) }),
    }
  })
}

function apiOf({ distid, api }: Distributor, address: string): string {
  if (!api) throw new Error(`servers.${distid}.api: it is not called by HTTP`)
  const url = plainAddress(address)
  if (url?.protocol !== 'https:' || url.search !== '' || url.hash !== '')
    throw new Error(`servers.${distid}.api: give an address such as ${api.url}`)
  return url.href.replace(/\/?$/, '/')
}

function filesOf({ distid, files }: Distributor, address: string): FtpServer {
  if (!files) throw new Error(`servers.${distid}.files: it has no FTP server`)
  const url = plainAddress(address)
  const scheme = files.isSecure ? 'ftpes' : 'ftp'
  const isSecure = url?.protocol === 'ftpes:'
  // Passwords that went encrypted so far go nowhere without.
  if (!url || !/^\/?$/.test(url.pathname) || (!isSecure && url.protocol !== `${scheme}:`))
    throw new Error(
      `servers.${distid}.files: give an address such as ${scheme}://${files.host}:${files.port}`,
    )
  return { host: url.hostname, port: url.port === '' ? 21 : Number(url.port), isSecure }
}

/** Without a login: that is in the shops' configurations. */
function plainAddress(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url && url.hostname !== '' && url.username === '' && url.password === '' ? url : null
}
