/** Taking rules in, and what that would change. */
import { existsSync, readFileSync } from 'node:fs'
import { figure } from '../../../../lib/core/figures.js'
import { invalid } from '../../../../lib/core/errors.js'
import {
  acceptStarter,
  diffRules,
  importRules,
} from '../../../../lib/restrictions/rules/active-rules.js'
import type { ImportInput, RuleChanges } from '../../../../lib/restrictions/rules/active-rules.js'
import { rulesImpact } from '../../../../lib/restrictions/rules/impact.js'
import type { StateImpact } from '../../../../lib/restrictions/rules/impact.js'
import { starterRules } from '../../../../lib/restrictions/rules/starter.js'
import type { App } from '../../../../lib/app/open.js'
import type { Invocation } from '../../command.js'
import { perform, withApp } from '../../with-app.js'
import type { Output } from '../../output.js'

export function readText(file: string): string {
  if (!existsSync(file)) throw invalid('file', `cannot read ${file}`)
  return readFileSync(file, 'utf8')
}

/** New rules that are named one by one; a whole set would hide what else is said. */
const MOST_NAMED = 30

function showChanges(
  out: Output,
  { added, changed, removed, unchanged, replaced, kept }: RuleChanges,
): void {
  if (added.length > MOST_NAMED)
    out.line(
      `+ ${added.length} rules; --json names each, and rules list shows those that are active`,
    )
  for (const [mark, ids] of [
    ['+', added.length > MOST_NAMED ? [] : added],
    ['~', changed],
    ['-', removed],
  ] as const)
    for (const id of ids) out.line(`${mark} ${id}`)
  // Where a rule stays as it was, its version is replaced by itself.
  const versions = (some: readonly string[]) =>
    some
      .filter((version) => changed.includes(version.slice(0, version.lastIndexOf(' '))))
      .join(', ')
  if (versions(replaced) !== '') out.line(`Versions replaced: ${versions(replaced)}.`)
  if (versions(kept) !== '')
    out.line(`Versions that stay in force beside the new ones: ${versions(kept)}.`)
  out.line(
    `${added.length} added, ${changed.length} changed, ${removed.length} removed, ` +
      `${unchanged} as they were.`,
  )
}

function showImpact(
  out: Output,
  { offers, states }: { offers: number; states: StateImpact[] },
): void {
  if (offers === 0) return out.line('There is no catalog yet to compare with.')
  if (states.length === 0)
    return out.line(`For none of the ${figure(offers)} offers anything changes in any state.`)
  out.table(
    states.map(({ state, before, after, changed }) => ({
      state,
      changed,
      blocked: `${before.blocked} -> ${after.blocked}`,
      held: `${before.held} -> ${after.held}`,
      approved: `${before.approved} -> ${after.approved}`,
    })),
  )
}

export async function takeRules(
  invocation: Invocation,
  change: (app: App) => ImportInput | null,
): Promise<void> {
  const { dir, out, dryRun } = invocation
  await withApp(dir, async (app) => {
    const input = change(app)
    const result = await perform(app, dryRun, (ctx) =>
      input ? importRules(ctx, input) : acceptStarter(ctx),
    )
    showChanges(out, result)
    out.line(
      dryRun
        ? `The active set would have ${result.rules} rules.`
        : `${result.rules} rules are active, digest ${result.digest.slice(0, 12)}.`,
    )
    out.result({ ...result, dry_run: dryRun })
  })
}

export async function diff({ dir, args: [file], values, out }: Invocation): Promise<void> {
  await withApp(dir, async (app) => {
    await app.ctx.catalog.refresh()
    const { rules, ...changes } =
      file === undefined
        ? starterDiff(app)
        : diffRules(app.ctx, { text: readText(file), replace: values['replace'] === true })
    const impact = await rulesImpact(app.ctx, rules)
    showChanges(out, changes)
    showImpact(out, impact)
    out.result({ ...changes, impact })
  })
}

function starterDiff(app: App) {
  return diffRules(app.ctx, { text: JSON.stringify(starterRules().rules) })
}
