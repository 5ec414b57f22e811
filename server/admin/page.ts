/** What the admin listener answers with. */
import type { IncomingMessage } from 'node:http'

/** The answer of a page. */
export interface Page {
  status?: number
  /** JSON by default. */
  type?: string
  body: string
}

/** Answers GET and HEAD at one path each. Further pages are a line in `pagesOf`. */
export type Pages = Record<string, (request: IncomingMessage) => Promise<Page>>
