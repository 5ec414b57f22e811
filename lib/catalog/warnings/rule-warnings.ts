/**
 * Price and restriction rules of a document that do nothing, or too much, on the catalog as it
 * stands: warnings of `POST /v1/config/validate`. Sets of rows are found by the code that prices
 * and hides them.
 */
import type { Snapshot } from '../snapshot/snapshot.js'
import { makePrices, makeView } from '../view/view.js'
import type { ViewInput } from '../view/view.js'
import { nameWarnings } from './names.js'
import { hiddenWarnings, offerWarnings } from './offers.js'
import { adjustmentWarnings, distidWarnings, mapWarnings, marginWarnings } from './pricing.js'
import { shippingWarnings } from './shipping.js'
import { MOST_WARNINGS } from './warning.js'
import type { Checked, RuleWarning, Warnings } from './warning.js'

/**
 * Warnings on the rules of a document over the offers of its eligible distributors; what loses most
 * offers comes first.
 */
export function ruleWarnings(snapshot: Snapshot, input: ViewInput): RuleWarning[] {
  const prices = makePrices(snapshot, input)
  const open = makeView(snapshot, { ...input, ignoreRestrictions: true }, prices)
  const { visible: shown } = makeView(snapshot, { ...input, ignoreRestrictions: false }, prices)
  const found: RuleWarning[] = []
  for (const next of warnings({ snapshot, input, document: input.document, open, shown })) {
    if (found.length < MOST_WARNINGS) found.push(next)
    else break
  }
  return [...found, ...nameWarnings(snapshot, input.document, MOST_WARNINGS - found.length)]
}

function* warnings(checked: Checked): Warnings {
  for (const check of [
    offerWarnings,
    hiddenWarnings,
    mapWarnings,
    shippingWarnings,
    distidWarnings,
    marginWarnings,
    adjustmentWarnings,
  ])
    yield* check(checked)
}
