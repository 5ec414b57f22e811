/** One HTTP call: an answer, or none where the connection broke. */
import { Agent, request } from 'node:http'

export interface HttpAnswer {
  status: number
  retryAfter: number | null
  body: AnswerBody
}

/** What the harness looks into. */
export interface AnswerBody {
  success: boolean
  data?: OrderData
  error?: { code: string; message: string; details?: unknown }
}

export interface OrderData {
  order_id: string
  status: 'placed' | 'partial' | 'pending'
  fulfillment_orders: {
    distid: string
    distributor_order_id: string | null
    po_number: string
    order_status: string
  }[]
  errors: { distid: string; failure_reason: string }[]
}

/** What a 409 `duplicate_order` carries. */
export interface DuplicateDetails extends Pick<
  OrderData,
  'order_id' | 'fulfillment_orders' | 'errors'
> {
  same_request: boolean
}

export const keepAlive = (sockets = 64) => new Agent({ keepAlive: true, maxSockets: sockets })

/** Null where the connection broke before the answer was there whole: then nothing is known. */
export function ask(
  agent: Agent,
  url: string,
  { method, path, key, body }: { method: string; path: string; key: string; body?: unknown },
): Promise<HttpAnswer | null> {
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve) => {
    const sent = request(
      new URL(path, url),
      {
        agent,
        method,
        headers: {
          'x-api-key': key,
          ...(text !== undefined && {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(null))
        response.on('aborted', () => resolve(null))
        response.on('end', () =>
          resolve({
            status: response.statusCode!,
            retryAfter:
              response.headers['retry-after'] === undefined
                ? null
                : Number(response.headers['retry-after']),
            body: JSON.parse(Buffer.concat(chunks).toString()) as AnswerBody,
          }),
        )
      },
    )
    sent.on('error', () => resolve(null))
    sent.end(text)
  })
}
