/** Which states have rules that block something of a class: darker where there are more. */
import { useState } from 'preact/hooks'
import type { Input } from '../../core/api.js'
import { linkTo, place } from '../../core/router.js'
import { filter } from '../../core/use-query.js'
import { useCall } from '../../core/use-call.js'
import { Section } from '../../parts/basics.js'
import { Select } from '../../parts/fields.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { CLASSES } from './classes.js'
import type { ShownRule } from './rule.js'
import { aboutOf } from './rule.js'
import { RuleDialog } from './rules.js'
import { STATE_NAMES, TILES } from './tiles.js'

const t = texts.restrictions

export function StateMap() {
  const productClass = place.value.query['product_class'] ?? 'MG'
  const chosen = place.value.query['state']
  const reading = useCall('rules.list', { product_class: productClass } as Input<'rules.list'>)
  const [shown, setShown] = useState<ShownRule | null>(null)
  return (
    <>
      <div class="filters">
        <Select
          label={t.class}
          value={productClass}
          options={CLASSES}
          onChange={filter('product_class')}
        />
      </div>
      <Loaded reading={reading} lines={10}>
        {({ rules }) => {
          const byState = blockingByState(rules as ShownRule[], productClass)
          const own = chosen ? (byState.get(chosen) ?? []) : []
          return (
            <div class="columns">
              <Section title={t.mapTitle} note={t.mapNote}>
                <ul class="map" aria-label={t.mapTitle}>
                  {TILES.map(({ code, row, column }) => {
                    const many = byState.get(code)?.length ?? 0
                    return (
                      <li key={code} class={`at-row-${row} at-column-${column}`}>
                        <a
                          href={linkTo(['restrictions', 'map'], {
                            product_class: productClass,
                            state: code,
                          })}
                          class={`tile-${levelOf(many)}`}
                          aria-current={code === chosen ? 'true' : undefined}
                          title={t.blocksIn(STATE_NAMES[code] ?? code, many)}
                        >
                          {code} <span>{many || ''}</span>
                          <span class="unseen">{t.blocksIn(STATE_NAMES[code] ?? code, many)}</span>
                        </a>
                      </li>
                    )
                  })}
                </ul>
              </Section>
              {chosen && (
                <Section title={t.blocksIn(STATE_NAMES[chosen] ?? chosen, own.length)} id="state">
                  <Table
                    label={t.blocksIn(STATE_NAMES[chosen] ?? chosen, own.length)}
                    rows={own}
                    keyOf={({ rule_id: id, version }) => `${id} ${version}`}
                    columns={[
                      {
                        head: t.rule,
                        cell: (rule) => (
                          <button type="button" class="link" onClick={() => setShown(rule)}>
                            <code>{rule.rule_id}</code>
                          </button>
                        ),
                      },
                      { head: t.about, cell: (rule) => aboutOf(rule), isLong: true },
                    ]}
                  />
                </Section>
              )}
            </div>
          )
        }}
      </Loaded>
      {shown && <RuleDialog rule={shown} onClose={() => setShown(null)} />}
    </>
  )
}

/**
 * Rules of law that block and name the class, or no class, by the states that they name. What a
 * distributor flags item by item says nothing of a class.
 */
function blockingByState(rules: readonly ShownRule[], productClass: string) {
  const byState = new Map<string, ShownRule[]>()
  for (const rule of rules) {
    const { product_class: classes } = rule.match ?? {}
    if (rule.kind !== 'BLOCK' || rule.legal_status === 'policy') continue
    if (classes && !classes.includes(productClass as 'FA')) continue
    const states = rule.scope?.state ?? (rule.scope?.place ? [] : TILES.map(({ code }) => code))
    for (const state of states) byState.set(state, [...(byState.get(state) ?? []), rule])
  }
  return byState
}

const levelOf = (many: number) => (many === 0 ? 0 : many === 1 ? 1 : many <= 3 ? 2 : 3)
