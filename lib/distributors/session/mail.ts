/** Messages by the operator's own mail server, over TLS. */
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'

/** A mail server, and who its messages are from. */
export interface MailServer {
  /** `smtps://user:password@host:465`, or `smtp://…:587`, which goes on over TLS or not at all. */
  readonly server: string
  readonly from: string
  /** The certificate authority of a server of your own, in PEM. */
  readonly ca?: string
}

export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly attachment?: { readonly name: string; readonly content: Buffer }
}

/** `refused`: the server took no message for this address, for good. */
export type MailOutcome =
  | { readonly outcome: 'sent' }
  | { readonly outcome: 'refused' | 'not_sent' | 'unknown'; readonly reason: string }

export type CallMail = (message: MailMessage) => Promise<MailOutcome>

/** Milliseconds for a connection, and without a sign of the server. */
const PATIENCE = 30_000

/** Throws for what is no mail server, and for an address that is none. */
export function readMailServer({ server, from, ca }: MailServer): MailServer {
  const url = URL.canParse(server) ? new URL(server) : null
  if (!url || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw new Error('mail: give a server such as smtps://user:password@mail.example:465')
  if (!/^[^\s@<>]+@[^\s@<>]+$/.test(from))
    throw new Error(`mail: "${from}" is not the address that messages are from`)
  return { server, from, ...(ca !== undefined && { ca }) }
}

/**
 * Sends one message, once. What became of it is told, and never thrown. `refusal` is asked right
 * before the message leaves, behind login and addresses: why it may not any more, or null.
 */
export async function sendMail(
  { server, from, ca }: MailServer,
  { to, subject, text, attachment }: MailMessage,
  signal: AbortSignal,
  refusal: () => string | null = () => null,
): Promise<MailOutcome> {
  const url = new URL(server)
  const isSecure = url.protocol === 'smtps:'
  const host = url.hostname
  const { Connection, MailComposer } = await load()
  const connection = new Connection({
    host,
    port: url.port === '' ? (isSecure ? 465 : 587) : Number(url.port),
    secure: isSecure,
    requireTLS: true,
    connectionTimeout: PATIENCE,
    greetingTimeout: PATIENCE,
    socketTimeout: PATIENCE,
    tls: { ...(ca !== undefined && { ca }), ...(isIP(host) === 0 && { servername: host }) },
  })
  const body = await new MailComposer({
    from,
    to,
    subject,
    text,
    // A line is never broken where it is long.
    textEncoding: 'quoted-printable',
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(attachment && {
      attachments: [{ filename: attachment.name, content: attachment.content }],
    }),
  })
    .compile()
    .build()
  // The server asks for the message only once it takes the address.
  let isBegun = false
  const message = new Readable({
    read() {
      const why = refusal()
      if (why !== null) return void this.destroy(new Error(why))
      isBegun = true
      this.push(body)
      this.push(null)
    },
  })
  const stop = () => connection.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    await stepOf(connection, (done) => connection.connect(done))
    const { username: user, password: pass } = url
    if (user !== '')
      await stepOf(connection, (done) =>
        connection.login(
          { credentials: { user: decodeURIComponent(user), pass: decodeURIComponent(pass) } },
          done,
        ),
      )
    await stepOf(connection, (done) => connection.send({ from, to: [to] }, message, done))
    connection.quit()
    return { outcome: 'sent' }
  } catch (error) {
    connection.close()
    return outcomeOf(error, isBegun)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Few shops send mail. */
async function load() {
  const [{ default: Connection }, { default: MailComposer }] = await Promise.all([
    import('nodemailer/lib/smtp-connection/index.js'),
    import('nodemailer/lib/mail-composer/index.js'),
  ])
  return { Connection, MailComposer }
}

function outcomeOf(error: unknown, isBegun: boolean): MailOutcome {
  const { responseCode: code, command } = error as { responseCode?: number; command?: string }
  const reason = `mail: ${error instanceof Error ? error.message : String(error)}`
  // To the address or to the message itself: the server keeps none of it.
  const isRefused = code !== undefined && code >= 500 && code < 600
  // What it says before, to a login or for want of TLS, is about us, and can be mended.
  if (isRefused && (command === 'RCPT TO' || command === 'DATA'))
    return { outcome: 'refused', reason }
  const isPutOff = code !== undefined && code >= 400 && code < 500
  return { outcome: isBegun && !isPutOff ? 'unknown' : 'not_sent', reason }
}

/** One step of a conversation; it also ends where the connection does. */
function stepOf(
  connection: SMTPConnection,
  step: (done: (error?: Error | null) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => end(() => reject(error))
    const over = () => end(() => reject(new Error('the connection was broken off')))
    const end = (settle: () => void) => {
      connection.removeListener('error', fail)
      connection.removeListener('end', over)
      settle()
    }
    connection.once('error', fail).once('end', over)
    step((error) => end(() => (error ? reject(error) : resolve())))
  })
}
