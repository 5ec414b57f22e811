/**
 * Kinds of what a report holds. The strong ones stand in `fraud_signal` too, by which they are
 * found; all up to `item` are counted.
 */
export const KINDS = {
  shipping_address_1: 1,
  billing_address_1: 2,
  email: 3,
  phone: 4,
  name: 5,
  ip: 6,
  item: 7,
  itemKey: 8,
  itemName: 9,
} as const
