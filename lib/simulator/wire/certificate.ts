/**
 * The certificate of a simulator: made anew with each start, for this machine's own names, and
 * trusted by nobody but the connector that it is handed to.
 */
import { generateKeyPairSync, sign } from 'node:crypto'
import { DAY } from '../../core/clock.js'

export interface Certificate {
  /** PEM. */
  readonly certificate: string
  readonly key: string
}

export interface CertificateOptions {
  /** Milliseconds since 1970. */
  now: number
  /** Names that it is for; `localhost` by default. The loopback addresses always are. */
  names?: readonly string[]
  /** Milliseconds that it is valid before and after now, ten years by default. */
  before?: number
  after?: number
}

const YEARS = 3_650 * DAY

/** A new key (P-256) and its self-signed certificate (X.509 v3, RFC 5280). */
export function makeCertificate({
  now,
  names = ['localhost'],
  before = YEARS,
  after = YEARS,
}: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = sequence(oid(1, 2, 840, 10045, 4, 3, 2))
  const name = sequence(
    tagged(0x31, sequence(oid(2, 5, 4, 3), tagged(0x0c, Buffer.from('Quartermaster simulator')))),
  )
  const alternatives = sequence(
    ...names.map((dns) => tagged(0x82, Buffer.from(dns))),
    tagged(0x87, Buffer.from([127, 0, 0, 1])),
    tagged(0x87, Buffer.from([...Array<number>(15).fill(0), 1])),
  )
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time(now - before), time(now + after)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(sequence(oid(2, 5, 29, 17), tagged(0x04, alternatives)))),
  )
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const der = sequence(body, algorithm, signature).toString('base64')
  return {
    certificate:
      `-----BEGIN CERTIFICATE-----\n${der.replaceAll(/(.{64})/g, '$1\n').trimEnd()}\n` +
      '-----END CERTIFICATE-----\n',
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** A value in DER: tag, length, content. */
function tagged(tag: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  const size: number[] = []
  for (let rest = bytes.length; rest > 0; rest >>= 8) size.unshift(rest & 0xff)
  const length = bytes.length < 0x80 ? [bytes.length] : [0x80 | size.length, ...size]
  return Buffer.concat([Buffer.from([tag, ...length]), bytes])
}

const sequence = (...content: readonly Buffer[]) => tagged(0x30, ...content)
const integer = (value: number) => tagged(0x02, Buffer.from([value]))

function oid(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = rest.flatMap((part) => {
    const septets = [part & 0x7f]
    for (let more = part >> 7; more > 0; more >>= 7) septets.unshift(0x80 | (more & 0x7f))
    return septets
  })
  return tagged(0x06, Buffer.from([first * 40 + second, ...bytes]))
}

/** Until 2049 with two digits of the year, later with four. */
function time(at: number): Buffer {
  const text = `${new Date(at).toISOString().replaceAll(/[-:T]|\.\d+Z$/g, '')}Z`
  return Number(text.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(text.slice(2)))
    : tagged(0x18, Buffer.from(text))
}
