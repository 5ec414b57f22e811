/** Restrictions: a tester, the map, the rules, the starter set, imports and overrides. */
import { linkTo, place } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { PageHead, Tabs } from '../../parts/basics.js'
import { texts } from '../../texts.js'
import { Enforcement } from './enforcement.js'
import { ImportRules } from './import.js'
import { StateMap } from './map.js'
import { Overrides } from './overrides.js'
import { RuleList } from './rules.js'
import { Starter } from './starter.js'
import { Tester } from './tester.js'

const t = texts.restrictions
const VIEWS = ['test', 'map', 'rules', 'starter', 'import', 'overrides'] as const

export function Restrictions() {
  const [, given] = place.value.path
  const view = VIEWS.find((one) => one === given) ?? 'test'
  const { shop } = useShops()
  return (
    <>
      <PageHead title={texts.pages.restrictions} question={t.question} actions={<Enforcement />} />
      <Tabs
        label={texts.pages.restrictions}
        tabs={VIEWS.map((one) => ({
          href: linkTo(['restrictions', ...(one === 'test' ? [] : [one])]),
          label: t.views[one],
          isCurrent: one === view,
        }))}
      />
      {view === 'test' && <Tester shop={shop} />}
      {view === 'map' && <StateMap shop={shop} />}
      {view === 'rules' && <RuleList />}
      {view === 'starter' && <Starter />}
      {view === 'import' && <ImportRules />}
      {view === 'overrides' && <Overrides />}
    </>
  )
}
