/** What is blocked of a class in each state, as a check counts it: darker where it is more. */
import { useState } from 'preact/hooks'
import type { Input, Output } from '../../core/api.js'
import { linkTo, place } from '../../core/router.js'
import type { useShops } from '../../core/shops.js'
import { filter } from '../../core/use-query.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Section } from '../../parts/basics.js'
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
type Blocks = Output<'rules.map'>['states'][number]
type Rules = ReadonlyMap<string, ShownRule>

export function StateMap({ shop }: { shop: ReturnType<typeof useShops>['shop'] }) {
  const { product_class: productClass = 'MG', to = '', state: chosen } = place.value.query
  const reading = useCall(
    'rules.map',
    shop === undefined
      ? null
      : ({
          product_class: productClass,
          ...(to && { to }),
          ...(shop !== null && { subscriber: shop }),
        } as Input<'rules.map'>),
  )
  return (
    <>
      <div class="filters">
        <Select
          label={t.class}
          value={productClass}
          options={CLASSES}
          onChange={filter('product_class')}
        />
        <Select
          label={t.goesTo}
          value={to}
          options={[['', t.byClass], ...Object.entries(t.destinations)]}
          onChange={filter('to')}
        />
      </div>
      <Loaded reading={reading} lines={10}>
        {({ states, rules, to: goesTo }) => {
          const known = new Map((rules as ShownRule[]).map((rule) => [rule.rule_id, rule]))
          const blocks = states.find(({ state }) => state === chosen)
          return (
            <div class="columns">
              <Section title={t.mapTitle(t.destinations[goesTo])} note={t.mapNote}>
                <ul class="map" aria-label={t.mapTitle(t.destinations[goesTo])}>
                  {TILES.map(({ code, row, column }) => (
                    <li key={code} class={`at-row-${row} at-column-${column}`}>
                      <Tile blocks={states.find(({ state }) => state === code)!} rules={known} />
                    </li>
                  ))}
                </ul>
                <ul class="legend" aria-label={t.legend}>
                  {LEVELS.map((level) => (
                    <li key={level}>
                      <i class={`tile-${level}`} aria-hidden="true" />
                      {t.levels[level]}
                    </li>
                  ))}
                </ul>
              </Section>
              {blocks && <StateSection blocks={blocks} rules={known} />}
            </div>
          )
        }}
      </Loaded>
    </>
  )
}

function Tile({ blocks, rules }: { blocks: Blocks; rules: Rules }) {
  const { state, blocking } = blocks
  const level = levelOf(blocks, rules)
  const many = t.blocksIn(STATE_NAMES[state]!, blocking.length)
  const told = level === 0 ? many : `${many}; ${t.levels[level]}`
  return (
    <a
      href={linkTo(['restrictions', 'map'], { ...place.value.query, state })}
      class={`tile-${level}`}
      aria-current={state === place.value.query['state'] ? 'true' : undefined}
      title={told}
    >
      {state} <span>{blocking.length || ''}</span>
      <span class="unseen">{told}</span>
    </a>
  )
}

const LEVELS = [0, 1, 2, 3] as const

/** Nothing, some of it by a policy alone, some of it by a law, everything. */
function levelOf({ extent, blocking }: Blocks, rules: Rules): (typeof LEVELS)[number] {
  if (extent === 'all') return 3
  if (extent === 'none') return 0
  const isLaw = blocking.some(({ rule_id: id }) => rules.get(id)?.legal_status !== 'policy')
  return isLaw ? 2 : 1
}

function StateSection({ blocks, rules }: { blocks: Blocks; rules: Rules }) {
  const [shown, setShown] = useState<ShownRule | null>(null)
  const { state, blocking, lifted, reviews } = blocks
  const title = t.blocksIn(STATE_NAMES[state]!, blocking.length)
  const { product_class: productClass = 'MG' } = place.value.query
  return (
    <Section title={title} id="state">
      {blocking.length > 0 && (
        <Table
          label={title}
          rows={blocking}
          keyOf={({ rule_id: id }) => id}
          columns={[
            {
              head: t.rule,
              cell: ({ rule_id: id }) => (
                <button type="button" class="link" onClick={() => setShown(rules.get(id)!)}>
                  <code>{id}</code>
                </button>
              ),
            },
            {
              head: t.blocks,
              cell: ({ extent }) => (
                <Badge tone={extent === 'all' ? 'bad' : 'warn'}>{t.extents[extent]}</Badge>
              ),
            },
            {
              head: t.about,
              cell: ({ rule_id: id, depends_on: names }) =>
                aboutOf(rules.get(id)!) || names.join(', '),
              isLong: true,
            },
          ]}
        />
      )}
      {(lifted.length > 0 || reviews > 0) && (
        <div class="body stack tight">
          {lifted.map(({ rule_id: id, author, reason }) => (
            <p key={id}>
              <code>{id}</code>: {t.overriddenBy(author, reason)}
            </p>
          ))}
          {reviews > 0 && (
            <p class="quiet">
              <a
                href={linkTo(['restrictions', 'rules'], {
                  kind: 'MANUAL_REVIEW',
                  state,
                  product_class: productClass,
                })}
              >
                {t.reviews(reviews)}
              </a>
            </p>
          )}
        </div>
      )}
      {shown && <RuleDialog rule={shown} onClose={() => setShown(null)} />}
    </Section>
  )
}
