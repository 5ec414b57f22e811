/** The active rules, filtered. */
import { useState } from 'preact/hooks'
import type { Input } from '../../core/api.js'
import { place } from '../../core/router.js'
import { filter, useTyped } from '../../core/use-query.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Facts, Section } from '../../parts/basics.js'
import { Dialog } from '../../parts/dialog.js'
import { Select, TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Pager, Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { CLASSES } from './classes.js'
import { aboutOf, whereOf } from './rule.js'
import type { ShownRule } from './rule.js'
import { STATE_NAMES } from './tiles.js'
import { Citations } from './tester.js'

const t = texts.restrictions
const SIZE = 50
const TONES = { BLOCK: 'bad', MANUAL_REVIEW: 'warn', WARNING: 'calm' } as const

export function RuleList() {
  const { query } = place.value
  const [text, setText] = useTyped('text')
  const [from, setFrom] = useState(0)
  const [shown, setShown] = useState<ShownRule | null>(null)
  const { state, product_class: productClass, kind } = query
  const reading = useCall('rules.list', {
    ...(state && { state }),
    ...(productClass && { product_class: productClass }),
  } as Input<'rules.list'>)
  const words = (query['text'] ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  return (
    <>
      <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
        <div class="first">
          <TextField
            label={texts.words.search}
            type="search"
            placeholder={t.findRule}
            value={text}
            onInput={(value) => {
              setFrom(0)
              setText(value)
            }}
            isSearch
          />
        </div>
        <Select
          label={t.kind}
          value={kind ?? ''}
          options={[['', texts.words.any], ...Object.entries(t.kinds)]}
          onChange={filter('kind')}
        />
        <Select
          label={t.state}
          value={state ?? ''}
          options={[['', texts.words.any], ...Object.entries(STATE_NAMES)]}
          onChange={filter('state')}
        />
        <Select
          label={t.class}
          value={productClass ?? ''}
          options={[['', texts.words.any], ...CLASSES]}
          onChange={filter('product_class')}
        />
      </form>
      <Loaded reading={reading} lines={12}>
        {({ rules, digest }) => {
          const found = (rules as ShownRule[]).filter(
            (rule) =>
              (!kind || rule.kind === kind) &&
              words.every((word) => JSON.stringify(rule).toLowerCase().includes(word)),
          )
          return (
            <Section
              title={t.rules(found.length)}
              id="rules"
              aside={<code title={t.digest}>{digest.slice(0, 12)}</code>}
            >
              <Table
                label={t.rules(found.length)}
                rows={found.slice(from, from + SIZE)}
                keyOf={({ rule_id: id, version }) => `${id} ${version}`}
                empty={<Empty title={t.noRules}>{t.noRulesMore}</Empty>}
                columns={[
                  {
                    head: t.rule,
                    cell: (rule) => (
                      <button type="button" class="link" onClick={() => setShown(rule)}>
                        <code>{rule.rule_id}</code>
                      </button>
                    ),
                  },
                  {
                    head: t.kind,
                    cell: ({ kind: own }) => <Badge tone={TONES[own]}>{t.kinds[own]}</Badge>,
                  },
                  { head: t.where, cell: (rule) => whereOf(rule) },
                  { head: t.about, cell: (rule) => aboutOf(rule), isLong: true },
                  {
                    head: t.law,
                    cell: ({ citations = [] }) => citations[0]?.cite ?? '–',
                    isWide: true,
                  },
                ]}
              />
              <Pager
                from={from}
                shown={Math.min(SIZE, found.length - from)}
                total={found.length}
                size={SIZE}
                onGo={setFrom}
              />
            </Section>
          )
        }}
      </Loaded>
      {shown && <RuleDialog rule={shown} onClose={() => setShown(null)} />}
    </>
  )
}

export function RuleDialog({ rule, onClose }: { rule: ShownRule; onClose: () => void }) {
  return (
    <Dialog title={rule.rule_id} onClose={onClose} isWide>
      <p>{rule.customer_message}</p>
      <Facts
        facts={[
          [t.kind, <Badge tone={TONES[rule.kind]}>{t.kinds[rule.kind]}</Badge>],
          [t.where, whereOf(rule)],
          [t.about, aboutOf(rule) || texts.words.all],
          [t.goesTo, rule.destination ?? 'any'],
          [t.from, rule.effective_from ?? '–'],
          [t.until, rule.effective_to ?? '–'],
          [t.reviewed, rule.reviewed ?? '–'],
          [t.confidence, rule.confidence ?? '–'],
        ]}
      />
      <Citations citations={rule.citations ?? []} />
      {rule.operator_note && <p class="quiet">{rule.operator_note}</p>}
      <pre tabIndex={0}>{JSON.stringify(rule, null, 2)}</pre>
    </Dialog>
  )
}
