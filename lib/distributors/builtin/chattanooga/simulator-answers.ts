/** What the answers of Chattanooga's simulator have in common. */
import type { WireAnswer } from '../../../simulator/wire/http-simulator.js'
import type { Call } from '../../../simulator/wire/posted-order.js'

export const json = (value: unknown, status = 200): WireAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

/** An error, with its code and a message. */
export const fault = (status: number, code: number, message: string): WireAnswer =>
  json({ error_code: code, message, errors: [{ message }] }, status)

/** A part of a list, counted from 0. */
export interface Page {
  readonly offset: number
  readonly limit: number
  /** What the list says of itself, with so many rows in all. */
  pagination(count: number): Readonly<Record<string, number>>
}

/** Rows that a page has where nobody says how many. */
const USUAL = 10

/** The page that is asked for, or what is wrong with the question. */
export function pageOf(
  { request: { query } }: Pick<Call, 'request'>,
  most: number,
): Page | WireAnswer {
  const [page, limit] = [numberIn(query, 'page', 1), numberIn(query, 'per_page', USUAL)]
  if (page === null || page < 1) return fault(422, 9000, 'page must be a positive number')
  if (limit === null || limit < 1 || limit > most)
    return fault(422, 9000, `per_page must be between 1 and ${most}`)
  return {
    offset: (page - 1) * limit,
    limit,
    pagination: (count) => ({ page, per_page: limit, page_count: Math.ceil(count / limit) }),
  }
}

function numberIn(query: URLSearchParams, name: string, usual: number): number | null {
  const text = query.get(name)
  if (text === null) return usual
  return /^\d{1,6}$/.test(text) ? Number(text) : null
}
