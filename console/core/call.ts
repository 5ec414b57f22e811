/** One call of the operator's API: JSON in, the envelope out. */
import { texts } from '../texts.js'
import type { Input, Operation, Output, ShopCall, ShopInput, ShopResult } from './api.js'

/** Member of a body that is wrong, and why. */
export interface Fault {
  path: string
  message: string
}

/** A refusal of the server, or that it could not be reached. */
export class CallError extends Error {
  override name = 'CallError'
  /** Of the table of errors; `unreachable` where no answer came. */
  readonly code: string
  readonly status: number
  readonly details: unknown

  constructor(code: string, status: number, message: string, details?: unknown) {
    super(message)
    this.code = code
    this.status = status
    this.details = details
  }

  /** Nobody answered, or only what stands in front of the server: it may be back in a moment. */
  get isAway(): boolean {
    return this.code === 'unreachable' || (this.code === 'unreadable' && this.status >= 502)
  }

  /** Faults by their place, where the refusal names places. */
  get faults(): Fault[] {
    const list = Array.isArray(this.details) ? (this.details as unknown[]) : []
    return list.filter(
      (one): one is Fault =>
        typeof one === 'object' && one !== null && 'path' in one && 'message' in one,
    )
  }
}

/** What a call needs beside its input, and whom it tells of a refusal that concerns all pages. */
export interface Caller {
  csrf(): string | null
  /** Nobody is signed in any more. */
  signedOut(): void
  /** Reads the sign-in anew; true where the same person has signed in again, in another tab. */
  renew(): Promise<boolean>
  /** Asks for the password, or for a first one; false where the person would not give it. */
  confirm(isFirst: boolean): Promise<boolean>
}

let caller: Caller = {
  csrf: () => null,
  signedOut: () => {},
  renew: async () => false,
  confirm: async () => false,
}

/** Said once, at the start. */
export function callAs(next: Caller): void {
  caller = next
}

/** Does one operation. Throws a CallError. */
export async function call<Op extends Operation>(name: Op, input: Input<Op>): Promise<Output<Op>> {
  return (await post(
    `/operator/${name.replace('.', '/')}`,
    JSON.stringify(input ?? {}),
  )) as Output<Op>
}

/** What a shop sees: an endpoint of /v1 with that shop's context. */
export async function callShop<Id extends ShopCall>(
  endpoint: Id,
  input: ShopInput,
): Promise<ShopResult<Id>> {
  return (await post(`/operator/shop/${endpoint}`, JSON.stringify(input))) as ShopResult<Id>
}

/** Sends a file up; the id stands for it in the operation that takes it. */
export async function upload(file: File): Promise<string> {
  const { upload: id } = (await post('/operator/uploads', file, {
    'content-type': 'application/octet-stream',
    'x-file-name': encodeURIComponent(file.name),
  })) as { upload: string }
  return id
}

async function post(
  path: string,
  body: BodyInit,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<unknown> {
  try {
    return await once(path, body, headers)
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.code === 'signed_out') caller.signedOut()
    if (error.code === 'wrong_csrf' && (await caller.renew())) return once(path, body, headers)
    if (error.code === 'confirm_password' && (await caller.confirm(lacksPassword(error))))
      return once(path, body, headers)
    throw error
  }
}

/** Who came by the link of the demo has set no password that could be asked for. */
const lacksPassword = ({ details }: CallError) =>
  typeof details === 'object' &&
  details !== null &&
  'password_set' in details &&
  details.password_set === false

async function once(
  path: string,
  body: BodyInit,
  headers: Record<string, string>,
): Promise<unknown> {
  const csrf = caller.csrf()
  const answer = await fetchOrTell(path, {
    method: 'POST',
    body,
    headers: { ...headers, ...(csrf && { 'x-csrf': csrf }) },
  })
  return dataOf(answer)
}

/** As `call`, for the few addresses that are read. */
export async function read<T>(path: string): Promise<T> {
  return (await dataOf(await fetchOrTell(path, {}))) as T
}

async function fetchOrTell(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'same-origin', cache: 'no-store' })
  } catch {
    throw new CallError('unreachable', 0, texts.faults.unreachable)
  }
}

async function dataOf(answer: Response): Promise<unknown> {
  const text = await answer.text()
  try {
    const envelope = JSON.parse(text) as
      | { success: true; data: unknown }
      | { success: false; error: { code: string; message: string; details?: unknown } }
    if (envelope.success) return envelope.data
    const { code, message, details } = envelope.error
    throw new CallError(code, answer.status, message, details)
  } catch (error) {
    if (error instanceof CallError) throw error
    throw new CallError('unreadable', answer.status, texts.faults.unreadable(answer.status))
  }
}
