/** Where files are kept that callers download by themselves: exports and dealers' documents. */

export interface PutOptions {
  contentType: string
}

export interface UrlOptions {
  /** Seconds that the URL works. */
  expiresIn: number
  /** What a browser saves it as. */
  fileName?: string
}

/**
 * One kind of store. Keys are segments of `[A-Za-z0-9._-]+` joined by `/`, and never begin with a
 * dot.
 */
export interface ObjectStore {
  /**
   * Stores a file (its path) or bytes as a whole: another reader sees all of it or nothing.
   * Replaces what is there.
   */
  put(key: string, file: string | Uint8Array, options: PutOptions): Promise<void>
  /** True when an object is there and can be read. Throws when the store cannot be asked. */
  has(key: string): Promise<boolean>
  /** Removes an object; one that is not there is no error. */
  remove(key: string): Promise<void>
  /**
   * The bytes of an object. The store of the journal's copy needs it to bring the journal back.
   * Rejects for one that is not there.
   */
  get?(key: string): Promise<Uint8Array>
  /** Keys below a prefix, in their order, with the milliseconds of their last change. */
  list(prefix: string): Promise<{ key: string; changedAt: number }[]>
  /**
   * An address from which anybody who has it can read the object until it expires; it does not end
   * with the API key.
   */
  url(key: string, options: UrlOptions): Promise<string>
  /**
   * Opens what a URL of this store names. Only a store has it whose URLs lead to our own server.
   */
  open?(address: SignedAddress): Promise<OpenObject>
}

/** The parts of a URL of our own server, as the caller sent them. */
export interface SignedAddress {
  key: string
  /** Seconds since 1970. */
  expires: string
  /** Empty for none. */
  fileName: string
  signature: string
}

/** An object that is being read: what replaces or removes it meanwhile does not reach it. */
export interface OpenObject {
  /** Bytes. */
  readonly size: number
  readonly contentType: string
  /** Another one for other bytes under the same key. */
  readonly etag: string
  /**
   * The bytes from one to another, both included. It closes the object at its end, or when it is
   * cancelled.
   */
  stream(from: number, to: number): ReadableStream<Uint8Array>
  /** For who reads no stream. */
  close(): Promise<void>
}

const SEGMENT = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/** Throws for a key that no store takes. */
export function checkKey(key: string): void {
  if (!isKey(key)) throw new Error(`"${key.slice(0, 100)}" is not an object key`)
}

export function isKey(key: string): boolean {
  return key.length <= 512 && key.split('/').every((segment) => SEGMENT.test(segment))
}
