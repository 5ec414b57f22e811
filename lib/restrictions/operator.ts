/** What the operator does with rules of where a product may go. */
import { checkRestrictions } from './check.js'
import type { RestrictionsCtx } from './ctx.js'
import { rulesImpact } from './rules/impact.js'
import { addOverride, listOverrides, withdrawOverride } from './rules/overrides.js'
import { acceptStarter, currentRules, importRules, showStarter } from './rules/active-rules.js'

export { diffRules } from './rules/active-rules.js'

export const rules = {
  import: importRules,
  impact: rulesImpact,
  accept: acceptStarter,
  list: async (ctx: RestrictionsCtx) => currentRules(ctx),
  withdraw: withdrawOverride,
  starter: async (ctx: RestrictionsCtx) => showStarter(ctx),
  overrides: listOverrides,
}

export const rulesOfSubscriber = { test: checkRestrictions, override: addOverride }
