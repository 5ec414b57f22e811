/** An order as a simulated distributor is told it, and as it keeps it. */

export interface Line {
  distsku: string
  qty: number
}

/** A line with what the distributor will ship of it. */
export interface CommittedLine extends Line {
  committed: number
}

/** What a distributor is told of an order, without what it need not keep of a person. */
export interface Arrival {
  clientRef: string
  po: string
  scenario: string | null
  /** Tells one content from another. */
  content: string
  lines: Line[]
  shipTo: { name: string; address1: string; zip: string }
  /** It goes to a dealer. */
  firearms: boolean
}

export interface SalesOrder {
  id: number
  distid: string
  account: string
  /** Null on an order that somebody else placed with the same account. */
  clientRef: string | null
  po: string
  /** The PO as the distributor's lists show it. */
  listedPo: string
  number: string
  content: string
  scenario: string | null
  lines: CommittedLine[]
  shipTo: Arrival['shipTo']
  firearms: boolean
  /**
   * When it arrived, and when it became an order, milliseconds since 1970; they differ where files
   * lie in an inbox.
   */
  placedAt: number
  executedAt: number
}
