/**
 * RSR's codes, as its file layout lists them, with a reason that a person understands. A code that
 * is not listed is told as it came.
 */
const REASONS: Readonly<Record<string, string>> = {
  '00003': 'this file was read before',
  '10010': 'RSR has this order already',
  '10014': 'RSR has cancelled the order',
  '10099': 'no quantity is left in the order',
  '11002': 'RSR does not find the FFL: the dealer has to send RSR a copy of the license',
  '11003': "the FFL's ZIP is not the one that RSR has",
  '11004': "the dealer's name is not the one that RSR has",
  '11005': "the dealer's state is not the one that RSR has",
  '11006': 'the FFL that RSR has on file has expired',
  '11007': 'firearms and accessories cannot be in one order',
  '11009': 'the dealer does not accept transfers',
  '11010': "the consumer's name is missing",
  '11011': "the consumer's phone number is missing",
  '20007': 'the item is out of stock',
  '20008': 'the item may not be shipped there',
  '20009': "the consumer's phone number is needed for this item",
  '20010': 'the item is allocated',
  '20011': 'the item is sold by the case only',
}

/** Codes of the API, which has others than the files. */
const OF_API: Readonly<Record<string, string>> = {
  '01': 'an item is out of stock',
  '82': "the consumer's phone number is missing",
  '85': 'firearms and accessories cannot be in one order',
  '87': 'an item is in maintenance: try later',
}

/** What a code is about, where it is not listed: by its first digits. */
const SUBJECTS: readonly (readonly [from: number, to: number, subject: string])[] = [
  [1, 7, 'the file'],
  [10_001, 10_999, 'the order'],
  [11_000, 11_999, 'the FFL'],
  [20_001, 20_999, 'an item'],
]

export const ACCEPTED = '00000'
export const CANCELLED = '10014'
export const UNKNOWN_LICENSE = '11002'
/** The order is there: it was sent before. */
export const DUPLICATES: ReadonlySet<string> = new Set(['00003', '10010'])

/** `20007 Item GLO1: the item is out of stock`. */
export function reasonOf(code: string, stock: string | null): string {
  const number = Number(code)
  const subject = SUBJECTS.find(([from, to]) => number >= from && number <= to)?.[2]
  const reason = REASONS[code] ?? `RSR refuses ${subject ?? 'the order'}`
  return stock === null ? `${code} ${reason}` : `${code} item ${stock}: ${reason}`
}

/** `85 firearms and accessories cannot be in one order (Cannot combine)`: with RSR's own words. */
export function answerReason(code: string, says: string): string {
  const reason = OF_API[code] ?? REASONS[code]
  if (reason === undefined) return says === '' ? `RSR answers ${code}` : `${code} ${says}`
  return says === '' ? `${code} ${reason}` : `${code} ${reason} (${says})`
}
