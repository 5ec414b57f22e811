/** The one connection of a call: over TLS, through the operator's proxy, to the checked address. */
import { request } from 'node:http'
import { connect, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { deadlineIn } from '../../core/async/wait.js'
import { codeOf } from '../../core/errors.js'
import { addressOf, checkHost, EgressFault } from './egress.js'
import type { Egress } from './egress.js'

/** Milliseconds until a connection is there: name, TCP, proxy and TLS together. */
export const CONNECT_TIMEOUT = 15_000

/**
 * Connects to a host and port. Rejects with an EgressFault: whatever goes wrong here, nothing of a
 * request was sent. There is no setting that trusts another certificate.
 */
export async function openConnection(
  egress: Egress,
  { host, port, isSecure }: { host: string; port: number; isSecure: boolean },
  signal: AbortSignal,
): Promise<Socket> {
  const deadline = deadlineIn(CONNECT_TIMEOUT, signal)
  try {
    const plain = egress.proxy
      ? await throughProxy(egress, egress.proxy, { host, port }, deadline.signal)
      : await directly(egress, { host, port }, deadline.signal)
    return isSecure ? await secured(egress, plain, host, deadline.signal) : plain
  } catch (error) {
    if (error instanceof EgressFault) throw error
    if (signal.aborted) throw new EgressFault('it was stopped before it began', { cause: error })
    throw new EgressFault(
      deadline.signal.aborted
        ? `${host} took longer than ${CONNECT_TIMEOUT / 1_000} seconds to connect`
        : `${host} cannot be connected to: ${causeOf(error)}`,
      { cause: error },
    )
  } finally {
    deadline.clear()
  }
}

async function directly(
  egress: Egress,
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  const { address, family } = await addressOf(egress, host, signal)
  const socket = connect({
    host: address,
    port,
    family,
    ...(egress.sourceAddress !== undefined && { localAddress: egress.sourceAddress }),
  })
  return settled(socket, 'connect', signal)
}

/** A proxy looks the name up itself, so that there is no address to check: the name is. */
async function throughProxy(
  egress: Egress,
  proxy: string,
  { host, port }: { host: string; port: number },
  signal: AbortSignal,
): Promise<Socket> {
  checkHost(egress, host)
  const { hostname, port: proxyPort, username, password } = new URL(proxy)
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return new Promise((resolve, reject) => {
    request({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: proxyPort || 80,
      method: 'CONNECT',
      path: `${host}:${port}`,
      agent: false,
      signal,
      headers: {
        host: `${host}:${port}`,
        ...(username !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}`,
        }),
      },
      ...(egress.sourceAddress !== undefined && { localAddress: egress.sourceAddress }),
    })
      .once('connect', ({ statusCode }, socket: Socket) => {
        if (statusCode === 200) return resolve(socket)
        socket.destroy()
        reject(new EgressFault(`the proxy refuses ${host}: HTTP ${statusCode}`))
      })
      .once('response', ({ statusCode }) => {
        reject(new EgressFault(`the proxy refuses ${host}: HTTP ${statusCode}`))
      })
      .once('error', reject)
      .end()
  })
}

function secured(
  { simulator }: Egress,
  socket: Socket,
  host: string,
  signal: AbortSignal,
): Promise<Socket> {
  const tls = connectTls({
    socket,
    host,
    // A name alone may be told there (RFC 6066).
    ...(isIP(host) === 0 && { servername: host }),
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(simulator?.certificate !== undefined && { ca: simulator.certificate }),
  })
  return settled(tls, 'secureConnect', signal)
}

/** The socket once it is there; destroyed where it does not come. */
function settled<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.destroy()
      reject(error as Error)
    }
    const stop = () => fail(signal.reason)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
    socket.once('error', fail)
    socket.once('close', () => fail(new Error('the other side closed the connection')))
    socket.once(event, () => {
      signal.removeEventListener('abort', stop)
      socket.removeListener('error', fail)
      resolve(socket)
    })
  })
}

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection was broken off',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'it does not answer',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not one that is trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not one that is trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not one that is trusted',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is that of another host',
}

function causeOf(error: unknown): string {
  return CAUSES[codeOf(error)] ?? (error instanceof Error ? error.message : String(error))
}
