/** What lies outside of the machine: the bucket, and the servers of distributors that are live. */
import { connect } from 'node:net'
import { SECOND } from '../../core/clock.js'
import { codeOf } from '../../core/errors.js'
import type { Finding } from '../../core/finding.js'
import type { Distributor } from '../../distributors/distributor.js'
import { addressOf } from '../../distributors/session/egress.js'
import type { OperatorEgress } from '../../distributors/session/egress.js'
import { closedOrNull } from './closed-folder.js'
import type { DoctorInput } from './input.js'
import { liveDistributors } from './queries.js'
import { tell } from './tell.js'

/** Milliseconds for a connection. */
const PATIENCE = 5 * SECOND

interface Place {
  host: string
  port: number
}

/** `live` are the distributors that orders go to; those of the folder, where nothing is said. */
export async function lookOutside(
  input: DoctorInput,
  live = liveOf(input),
): Promise<readonly Finding[]> {
  if (input.offline) return [tell('outside', 'info', 'nobody outside of this machine was asked')]
  return [
    await store(input),
    ...(await mail(input.egress)),
    ...(live.length === 0
      ? [tell('egress', 'ok', 'no distributor is live: nobody has to be reached')]
      : await Promise.all(live.map((distributor) => reach(distributor, input.egress)))),
  ]
}

async function store({ objects }: DoctorInput): Promise<Finding> {
  if (!objects) return tell('objects', 'ok', 'files of callers are kept in the state folder')
  const { verdict, line } = await objects.check()
  return tell(
    'objects',
    verdict === 'works' ? 'ok' : verdict === 'doubtful' ? 'warn' : 'bad',
    line,
    {
      mend: verdict === 'works' ? null : 'look at QUARTERMASTER_S3_*',
    },
  )
}

function liveOf({ dir, distributors }: DoctorInput): Distributor[] {
  const folder = closedOrNull(dir)
  if (!folder) return []
  try {
    const live = new Set(folder.reader.all(liveDistributors).map(({ distid }) => distid))
    return distributors.filter(({ distid }) => live.has(distid))
  } catch {
    // A folder of another release may lack the table.
    return []
  } finally {
    folder.close()
  }
}

/** Connects to each server of a distributor, says nothing there, and leaves. */
async function reach(distributor: Distributor, egress: OperatorEgress): Promise<Finding> {
  const { distid, name, api, files } = distributor
  const url = api && new URL(api.url)
  const places = [
    ...(url ? [{ host: url.hostname, port: portOf(url, 443) }] : []),
    ...(files ? [{ host: files.host, port: files.port }] : []),
  ]
  const faults = await Promise.all(
    places.map(({ host, port }) => faultOf({ host, port }, egress, port === portOf(url, 443))),
  )
  const fault = faults.find((text) => text !== null)
  return fault === undefined || fault === null
    ? tell('egress', 'ok', `${name} can be reached`, { subject: distid })
    : tell('egress', 'bad', `${name} cannot be reached: ${fault}`, {
        subject: distid,
        mend: 'look at the network, the firewall and QUARTERMASTER_EGRESS_*',
      })
}

const portOf = (url: URL | undefined, usual: number): number =>
  url === undefined || url.port === '' ? usual : Number(url.port)

async function mail({ mail: server }: OperatorEgress): Promise<Finding[]> {
  if (!server) return []
  const url = new URL(server.server)
  const place = { host: url.hostname, port: portOf(url, url.protocol === 'smtps:' ? 465 : 587) }
  const fault = await connected(place, place.host)
  return [
    fault === null
      ? tell('mail', 'ok', `the mail server ${place.host} can be reached`)
      : tell('mail', 'warn', `the mail server cannot be reached: ${fault}`, {
          mend: 'look at QUARTERMASTER_MAIL_SERVER',
        }),
  ]
}

/** Why a server cannot be reached as a connector would reach it; null where it can. */
async function faultOf(
  { host, port }: Place,
  egress: OperatorEgress,
  mayUseProxy: boolean,
): Promise<string | null> {
  if (egress.proxy !== undefined && mayUseProxy) {
    const proxy = new URL(egress.proxy)
    const fault = await connected({ host: proxy.hostname, port: portOf(proxy, 80) }, 'the proxy')
    return fault
  }
  try {
    const { address } = await addressOf({ ...egress, hosts: [host] }, host)
    return await connected({ host: address, port }, host, egress.sourceAddress)
  } catch (error) {
    return (error as Error).message
  }
}

function connected(
  { host, port }: Place,
  name: string,
  localAddress?: string,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, ...(localAddress !== undefined && { localAddress }) })
    const end = (fault: string | null) => {
      socket.destroy()
      resolve(fault)
    }
    socket.setTimeout(PATIENCE, () => end(`${name} port ${port} does not answer`))
    socket.once('connect', () => end(null))
    socket.once('error', (error) => end(`${name} port ${port}: ${codeOf(error) || error.message}`))
  })
}
