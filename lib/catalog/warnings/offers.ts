/** Distributors that show no offer: without a feed, without prices, or hidden by restrictions. */
import { figure } from '../../core/figures.js'
import { entryPointer } from '../view/restrictions.js'
import { viewRules } from '../view/view.js'
import { both, offers, offersOf, warning } from './warning.js'
import type { Checked, Warnings } from './warning.js'

/** Distributors that have nothing to sell. */
export function* offerWarnings(checked: Checked): Warnings {
  const placed = [...checked.open.distributors.values()]
  for (const {
    name,
    entry: { distid },
  } of checked.input.eligible) {
    const distributor = placed.find((candidate) => candidate.name === name)
    const all = distributor ? checked.snapshot.distributorRows(distributor.place).count() : 0
    if (!distributor || all === 0)
      yield warning(
        entryPointer(name),
        `has no offers: the catalog holds no feed of ${distid}; ` +
          'ask your operator for one, or set `active` to false',
      )
    else if (offersOf(checked, distributor).count() === 0)
      yield warning(
        entryPointer(name),
        `has ${offers(all)} and no price of yours for any of them; ` +
          'ask your operator for a feed with your prices',
      )
  }
}

/**
 * Distributors, or the whole catalog, that restrictions hide to the last offer: the rule that hides
 * most is named.
 */
export function* hiddenWarnings(checked: Checked): Warnings {
  const { snapshot, document, open, shown } = checked
  const stocked = [...open.distributors.values()]
    .map((distributor) => ({ of: distributor.name, rows: offersOf(checked, distributor) }))
    .filter(({ rows }) => rows.count() > 0)
  const hidden = stocked.filter(({ rows }) => both(rows, shown).count() === 0)
  if (hidden.length === 0) return
  const rules = viewRules(
    { snapshot, costs: open.costs, scope: open.visible.copy() },
    document,
    open.distributors.values(),
  )
  for (const { of, rows } of hidden.length === stocked.length
    ? [{ of: 'the whole catalog', rows: open.visible }]
    : hidden) {
    const counts = rules.map(({ pointer, hides }) => ({
      pointer,
      count: both(rows, hides).count(),
    }))
    const { pointer, count } = counts.reduce((most, next) =>
      next.count > most.count ? next : most,
    )
    const total = rows.count()
    yield warning(
      pointer,
      count === total
        ? `hides all of the ${offers(total)} of ${of}; loosen it`
        : `hides ${figure(count)} of the ${offers(total)} of ${of}, ` +
            'more than any other rule, and together they leave none; loosen it',
    )
  }
}
