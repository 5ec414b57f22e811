/**
 * What offers of one UPC lend each other. A feed that cannot tell what an item is
 * must not sell a pistol as a holster: class and `ffl_req` come from all feeds' offers of the UPC,
 * texts from the operator's alone, and whatever its own feed says, no offer is less than a firearm
 * where another one is a firearm. Written beside what the offer's own feed told, in the transaction
 * that changed it, so that every reader of the view `shown` finds it and a loan goes with its
 * lender.
 */
import { CLASS_CODES } from '../../distributors/product-classes.js'
import type { ProductClass } from '../../distributors/product-classes.js'
import { gtinKey, hasValidCheckDigit } from '../../core/gtin.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { LENT_PARTS, differingKeys, isDiffering, loanStatements, membersOf } from './queries.js'
import type { LentPart } from './queries.js'

/** What a feed says of an item, in one number: 0 where it cannot tell. */
export function kindOf({
  classified,
  productClass,
  fflReq,
}: {
  classified: boolean
  productClass: ProductClass
  fflReq: boolean
}): number {
  return classified ? 1 + CLASS_CODES.indexOf(productClass) * 2 + Number(fflReq) : 0
}

const classOf = (kind: number) => CLASS_CODES[(kind - 1) >> 1]!
const needsFfl = (kind: number) => kind > 0 && (kind - 1) % 2 === 1

/**
 * The GTIN-14 value by which offers meet to lend; null where the check digit does not prove the
 * UPC.
 */
export function lendingKey(upc: string | null): number | null {
  const key = upc === null ? null : gtinKey(upc)
  return key !== null && key > 0 && hasValidCheckDigit(String(key)) ? key : null
}

/** Above so many, all offers are looked through in one pass. */
const MANY_KEYS = 20_000

/** UPCs whose offers must be looked at again. */
export class TouchedKeys {
  readonly keys = new Set<number>()
  all = false

  add(key: number | null): void {
    if (key === null || this.all) return
    this.keys.add(key)
    if (this.keys.size <= MANY_KEYS) return
    this.all = true
    this.keys.clear()
  }
}

/** An offer among those of its UPC. */
export interface Member {
  id: number
  distid: string
  stockid: string
  /** See `kindOf`. */
  kind: number
  ownClass: ProductClass
  ownFfl: number
  /** Its own text, which never changes: other text is another fragment. */
  fragment: number
  /** An operator's feed has it: only such a one lends texts. */
  isOperators: number
  /** What its text has: see `LENT_PARTS`. */
  has: number
  described: number
}

/** What an offer is shown with in place of its own. */
export interface Loan {
  productClass: ProductClass
  fflReq: number
  /** Whose name, brand, category, images and descriptions fill what its own text lacks. */
  text: Member | null
}

const bitOf = (part: LentPart) => 1 << LENT_PARTS.indexOf(part)
const CATEGORY = bitOf('category')

const FIREARM = 2

function rankOf(productClass: ProductClass): number {
  return productClass === 'SO' ? 3 : productClass === 'FA' ? FIREARM : productClass === 'OT' ? 0 : 1
}

/**
 * The loans of the offers of one UPC, in their order; null for an offer that is shown as its own
 * feed has it. `ownKinds` are what subscribers' feeds say of offers that the operator's feeds have
 * too.
 */
export function loansOf(members: readonly Member[], ownKinds: readonly number[]): (Loan | null)[] {
  const told = [...members.map(({ kind }) => kind), ...ownKinds].filter((kind) => kind > 0)
  const common = commonClass(told)
  const fflReq = Number(told.some((kind) => needsFfl(kind) || rankOf(classOf(kind)) >= FIREARM))
  const lenders = members
    .filter(({ isOperators, has }) => isOperators === 1 && has > 0)
    .sort((a, b) => fitness(b, common) - fitness(a, common) || b.described - a.described)
  return members.map((member) => {
    const isRaised =
      common !== null && rankOf(common) >= FIREARM && rankOf(common) > rankOf(member.ownClass)
    const productClass =
      common !== null && (member.kind === 0 || isRaised) ? common : member.ownClass
    const lender = member.kind > 0 ? null : (lenders.find((other) => other !== member) ?? null)
    const text = lender && lentParts(member, lender, productClass) > 0 ? lender : null
    const isSame = text === null && productClass === member.ownClass && fflReq <= member.ownFfl
    return isSame ? null : { productClass, fflReq: Math.max(fflReq, member.ownFfl), text }
  })
}

/** The class that most tell; NFA items and firearms before all, "other" after all. */
function commonClass(told: readonly number[]): ProductClass | null {
  const counts = new Map<ProductClass, number>()
  for (const kind of told) counts.set(classOf(kind), (counts.get(classOf(kind)) ?? 0) + 1)
  const [first] = [...counts].sort(
    ([a, m], [b, n]) =>
      rankOf(b) - rankOf(a) || n - m || CLASS_CODES.indexOf(a) - CLASS_CODES.indexOf(b),
  )
  return first?.[0] ?? null
}

/** The best description is one of what the item is held to be, with a name, and whole. */
function fitness({ kind, has }: Member, common: ProductClass | null): number {
  const parts = LENT_PARTS.filter((_, i) => has & (1 << i)).length
  return (kind > 0 && classOf(kind) === common ? 100 : 0) + (has & bitOf('name') ? 10 : 0) + parts
}

/** Bits of what the one lacks and the other has; a category goes with its class alone. */
function lentParts(member: Member, lender: Member, productClass: ProductClass): number {
  const fits = lender.kind > 0 && classOf(lender.kind) === productClass
  return lender.has & ~member.has & ~(fits ? 0 : CATEGORY)
}

interface StoredMember extends Member {
  lent: number | null
  lentFfl: number | null
  lentKey: string | null
}

/**
 * Reads the offers of one UPC, by (distid, stockid), and what subscribers' own feeds say of them.
 */
export function openMembers(
  catalog: Raw,
): (key: number) => { members: StoredMember[]; ownKinds: number[] } {
  const { members, ownKinds } = membersOf(catalog)
  return (key) => ({
    members: members.all(key) as StoredMember[],
    ownKinds: ownKinds.all(key) as number[],
  })
}

/**
 * Brings the loans of these UPCs up to date, and tells whether any changed. Inside the caller's
 * transaction; changed offers get its revision, texts that are shown no more are retired at `now`
 * (ms).
 */
export function lend(
  catalog: Raw,
  touched: TouchedKeys,
  { revision, now }: { revision: number; now: number },
): boolean {
  const keys = keysToLend(catalog, touched)
  if (keys.length === 0) return false
  const read = openMembers(catalog)
  const sql = loanStatements(catalog)
  let changed = false
  for (const key of keys) {
    const { members, ownKinds } = read(key)
    loansOf(members, ownKinds).forEach((loan, i) => {
      const member = members[i]!
      const lentKey = loan && loanKey(member, loan)
      if (lentKey === member.lentKey && (loan?.fflReq ?? null) === member.lentFfl) return
      changed = true
      let lent = member.lent
      if (lentKey !== member.lentKey) {
        if (lent !== null) sql.retire.run(now, lent)
        lent = loan === null || lentKey === null ? null : write(sql, member, loan)
      }
      sql.set.run(lent, loan?.fflReq ?? null, lentKey, revision, member.id)
    })
  }
  return changed
}

/** Names the text that a loan makes; null where only `ffl_req` is lent. */
function loanKey({ ownClass }: Member, { productClass, text }: Loan): string | null {
  return text === null && productClass === ownClass
    ? null
    : `${productClass} ${text?.fragment ?? ''}`
}

function write(
  sql: ReturnType<typeof loanStatements>,
  member: Member,
  { productClass, text }: Loan,
): number {
  const parts = text === null ? 0 : lentParts(member, text, productClass)
  const isLent = Object.fromEntries(LENT_PARTS.map((part, i) => [part, (parts >> i) & 1]))
  const made = sql.fragment.run({
    own: member.fragment,
    lender: text?.fragment ?? null,
    productClass,
    ...isLent,
  })
  return Number(made.lastInsertRowid)
}

/**
 * UPCs whose offers differ in what they say, or have a loan; in their order, so that neighbours are
 * read from one page.
 */
function keysToLend(catalog: Raw, { keys, all }: TouchedKeys): number[] {
  const inOrder = (found: Iterable<number>) => [...new Set(found)].sort((a, b) => a - b)
  return all ? inOrder(differingKeys(catalog)) : inOrder(keys).filter(isDiffering(catalog))
}

/** What an offer is shown with that its own feed did not tell, for people. */
export interface Borrowed {
  product_class: ProductClass
  ffl_req: number
  /** The offers, `DAV 51421`, and subscribers' own feeds that say what it is. */
  told_by: string[]
  /** The offer whose texts fill what its own lacks. */
  text_of: string | null
}

/** What offers of a UPC borrow, by `DISTID STOCKID`. An offer that borrows nothing is not there. */
export function borrowedBy(catalog: Raw, upc: string): Map<string, Borrowed> {
  const key = lendingKey(upc)
  if (key === null) return new Map()
  const { members, ownKinds } = openMembers(catalog)(key)
  const nameOf = ({ distid, stockid }: Member) => `${distid} ${stockid}`
  return new Map(
    loansOf(members, ownKinds).flatMap((loan, i) => {
      if (!loan) return []
      const member = members[i]!
      const says = (kind: number) =>
        kind > 0 &&
        (classOf(kind) === loan.productClass || (loan.fflReq > member.ownFfl && needsFfl(kind)))
      const lenders = members.filter((other) => other !== member && says(other.kind)).map(nameOf)
      const told = [...lenders, ...(ownKinds.some(says) ? ["a subscriber's own feed"] : [])]
      return [
        [
          nameOf(member),
          {
            product_class: loan.productClass,
            ffl_req: loan.fflReq,
            told_by: told,
            text_of: loan.text && nameOf(loan.text),
          },
        ],
      ]
    }),
  )
}
