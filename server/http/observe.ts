/** What a server tells of each request that it has answered, for whoever counts and notes them. */

export interface Served {
  /** `GET /v1/products/{upc}`; outside of the endpoints `docs`, `objects` or `unknown`. */
  route: string
  method: string
  status: number
  /** Of a refusal. */
  code: string | null
  /** The key's id, never the key; null where none was known. */
  keyId: string | null
  requestId: string
  /** From the head of the request to the whole answer, without its way to the caller. */
  milliseconds: number
  /** Of the body; null where it is not known. */
  bytes: number | null
  /** Headers in which the caller names the trace that the request belongs to (W3C Trace Context). */
  trace(): Record<string, string>
}

/** Called once for each request; it must be quick, and must not throw. */
export type Observe = (served: Served) => void
