/** How each distributor says no, shortened. Known codes are the distributors' own. */

export interface Words {
  unknownItem(sku: string): string
  outOfStock(sku: string): string
  /** The account is not served. */
  credit: string
  phone: string
  po(fault: string): string
  missingFfl: string
  badFfl: string
  badZip(zip: string): string
  /** Firearms and accessories in one order. */
  mixed: string
  /** The reference belongs to an order with other content. */
  otherContent: string
}

const plain: Words = {
  unknownItem: (sku) => `item ${sku} is not in the catalog`,
  outOfStock: (sku) => `item ${sku} is out of stock`,
  credit: 'the account is on credit hold',
  phone: "the customer's phone number is required",
  po: (fault) => `the PO number ${fault}`,
  missingFfl: 'a firearm needs the FFL of the receiving dealer',
  badFfl: 'the FFL number is not valid',
  badZip: (zip) => `"${zip}" is not a ZIP code`,
  mixed: 'firearms and accessories cannot be in one order',
  otherContent: 'the reference was used for another order',
}

export const WORDS = {
  RSR: {
    unknownItem: (sku) => `20999 Item ${sku} not found`,
    outOfStock: (sku) => `20007 Item ${sku} out of stock`,
    credit: '10999 Account on hold, contact your sales representative',
    phone: '20009 Consumer phone number required',
    po: (fault) => `10999 PO number ${fault}`,
    missingFfl: '11002 FFL not found',
    badFfl: '11002 FFL not found',
    badZip: (zip) => `10999 Ship-to ZIP "${zip}" invalid`,
    mixed: '11007 Firearms combined with accessories',
    otherContent: '10010 Duplicate order',
  },
  LIP: {
    ...plain,
    unknownItem: (sku) => `Item number ${sku} was not found.`,
    outOfStock: (sku) => `Item ${sku} is not available in the quantity requested.`,
    credit: 'This account is not able to place orders. Contact your sales executive.',
    phone: 'Phone is required.',
    po: (fault) => `PoNumber ${fault}.`,
    missingFfl: 'Item requires an FFL: use the firearm drop ship.',
    badFfl: 'Ffl must be 15 characters.',
    badZip: (zip) => `AddressZip "${zip}" is invalid.`,
    mixed: 'Firearms and non-firearms cannot be drop shipped on one order.',
  },
  CSSI: {
    ...plain,
    unknownItem: (sku) => `validation_failed: order_items: item_number ${sku} does not exist`,
    outOfStock: (sku) =>
      `validation_failed: order_items: item_number ${sku} has insufficient inventory`,
    credit: 'account_on_hold: orders cannot be placed',
    po: (fault) => `validation_failed: purchase_order_number ${fault}`,
    missingFfl: 'validation_failed: federal_firearms_license_number is required',
    badFfl: 'validation_failed: federal_firearms_license_number is invalid',
    badZip: (zip) => `validation_failed: ship_to_address.zip "${zip}" is invalid`,
  },
  TSW: {
    ...plain,
    unknownItem: (sku) => `AddDetail: false (item ${sku})`,
    outOfStock: (sku) => `Submit: false, STATUS E: insufficient on-hand for ${sku}`,
    credit: 'Submit: false, STATUS E: account on hold',
    phone: 'AddHeader: ShipToPhone is required',
    po: (fault) => `AddHeader: PO ${fault}`,
    missingFfl: 'Submit: false, STATUS E: no FFL for the ship-to',
    badFfl: 'FFLAcceptsTransfer: UNKNOWN',
    badZip: (zip) => `AddHeader: ShipToZip "${zip}" is invalid`,
  },
  ZND: {
    ...plain,
    unknownItem: (sku) => `return code 41: item ${sku} not found`,
    outOfStock: (sku) => `return code 9: nothing available of ${sku}`,
    credit: 'return code 2: there is a problem with the account',
    po: (fault) => `return code 2: purchaseOrderNumber ${fault}`,
    missingFfl: 'return code 2: the ship-to has no FFL',
    badFfl: 'return code 2: fflno is not valid',
    badZip: (zip) => `return code 2: shipToZip "${zip}" is not valid`,
    mixed: 'return code 2: firearms and accessories belong on different accounts',
  },
  BILL: { ...plain, po: (fault) => `the customer PO ${fault}` },
  '2AW': {
    ...plain,
    unknownItem: (sku) => `The product "${sku}" that was requested doesn't exist.`,
    outOfStock: (sku) => `The requested qty of "${sku}" is not available.`,
    credit: 'The requested payment method is not available.',
    po: (fault) => `The PO number ${fault}.`,
    missingFfl: 'A licence is required for this cart.',
    badFfl: 'The licence number is invalid.',
    badZip: (zip) => `The postcode "${zip}" is invalid.`,
  },
} as const satisfies Record<string, Words>
