/**
 * The simulated distributors without a shop: whoever writes a client of one of them can try it
 * here. They have the demo's catalog, and remember their orders in the folder.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../core/log.js'
import {
  demoFeedDir,
  demoFeedFile,
  OTHER_FILES,
  writeDemoFeeds,
  writeOtherFeeds,
} from './demo/feeds.js'
import { makeCertificate } from './wire/certificate.js'
import { demoSettings, SIMULATED } from './profiles.js'
import { openSimulators } from './simulators.js'
import { feedStock } from './demo/stock.js'

export interface StandAloneOptions {
  dir: string
  /** Milliseconds since 1970. */
  now: () => number
  log: Log
  /** By distid; a free port for one that is not named. */
  ports?: Readonly<Record<string, number>>
  /** Over TLS, with a certificate of its own for these names and this machine. */
  tlsNames?: readonly string[]
  /** About how many offers the demo's catalogs have, where they are made now. */
  offers?: number
}

export interface ListeningDistributor {
  distid: string
  /** With the base path of its API. */
  address: string
  /** Of its FTP server; null where it has none. */
  files: string | null
  /** What it takes, by setting. */
  credentials: Record<string, string>
}

export interface StandAlone {
  distributors: ListeningDistributor[]
  /** File of the certificate (PEM) that a client must trust; null without TLS. */
  certificate: string | null
  close(): void
}

/** Opens those that speak their protocol over a socket. */
export async function openStandAlone(options: StandAloneOptions): Promise<StandAlone> {
  const { dir, now, log, ports = {}, tlsNames, offers } = options
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const made = { asOf: now(), ...(offers !== undefined && { offers }) }
  if (!existsSync(demoFeedFile(dir, 'LIP')!)) await writeDemoFeeds(demoFeedDir(dir), made)
  if (Object.keys(OTHER_FILES).some((distid) => !existsSync(demoFeedFile(dir, distid)!)))
    await writeOtherFeeds(demoFeedDir(dir), made)
  const tls = tlsNames && makeCertificate({ now: now(), names: ['localhost', ...tlsNames] })
  const certificate = tls ? join(dir, 'simulators.pem') : null
  if (tls && certificate) writeFileSync(certificate, tls.certificate)
  const simulators = openSimulators({
    dir,
    now,
    log,
    stockOf: feedStock(dir),
    listen: { ports, ...(tls && { tls }) },
  })
  try {
    const distributors: ListeningDistributor[] = []
    for (const distid of SIMULATED) {
      const played = simulators.fulfillmentOf(distid)
      const address = await played?.address?.()
      const files = (await played?.filesAddress?.()) ?? null
      if (address !== undefined)
        distributors.push({ distid, address, files, credentials: demoSettings(distid) })
    }
    return { distributors, certificate, close: () => simulators.close() }
  } catch (error) {
    simulators.close()
    throw error
  }
}
