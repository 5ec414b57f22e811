/** May this item go there? With the rule, the predicate, the value that it met, and the law. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { linkTo } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { Badge, Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { Select, TextArea, TextField } from '../../parts/fields.js'
import { Empty } from '../../parts/states.js'
import { texts } from '../../texts.js'
import { CLASSES } from './classes.js'

const t = texts.restrictions
type Result = Output<'rules.test'>
type Matched = Result['items'][number]['blocking_rules'][number]

export function Tester({ shop }: { shop: ReturnType<typeof useShops>['shop'] }) {
  const [fields, setFields] = useState({
    state: 'CA',
    zip: '',
    city: '',
    county: '',
    upc: '',
    productClass: '',
    attributes: '',
    to: 'consumer',
    asOf: '',
  })
  const [result, setResult] = useState<Result | null>(null)
  const bind = (name: keyof typeof fields) => ({
    value: fields[name],
    onInput: (value: string) => setFields({ ...fields, [name]: value }),
  })
  if (shop === null) return <Empty title={texts.orders.noShop}>{t.noShop}</Empty>
  return (
    <div class="columns">
      <Section title={t.views.test}>
        <div class="body">
          <ActForm
            act={t.test}
            isReady={Boolean(shop) && /^[A-Za-z]{2}$/.test(fields.state)}
            doIt={async () => setResult(await test(shop!, fields))}
          >
            <div class="form-grid">
              <TextField label={t.state} {...bind('state')} isSearch />
              <TextField label={t.zip} {...bind('zip')} />
              <TextField label={t.city} {...bind('city')} />
              <TextField label={t.county} {...bind('county')} />
              <TextField label="UPC" {...bind('upc')} help={t.upcHelp} />
              <Select
                label={t.class}
                value={fields.productClass}
                options={[['', t.byUpc], ...CLASSES]}
                onChange={bind('productClass').onInput}
              />
              <Select
                label={t.goesTo}
                value={fields.to}
                options={Object.entries(t.destinations)}
                onChange={bind('to').onInput}
              />
              <TextField label={t.asOf} type="date" {...bind('asOf')} help={t.asOfHelp} />
            </div>
            <TextArea
              label={t.attributes}
              help={t.attributesHelp}
              rows={3}
              isCode
              {...bind('attributes')}
            />
          </ActForm>
        </div>
      </Section>
      <div aria-live="polite">{result && <Verdict result={result} />}</div>
    </div>
  )
}

async function test(
  subscriber: string,
  { state, zip, city, county, upc, productClass, attributes, to, asOf }: Record<string, string>,
): Promise<Result> {
  const place = { state: state!.toUpperCase(), zip, city, county }
  return call('rules.test', {
    subscriber,
    shipping: Object.fromEntries(
      Object.entries(place).filter(([, value]) => value),
    ) as typeof place,
    items: [
      {
        ...(upc && { upc }),
        ...(productClass && { product_class: productClass }),
        ...(attributes && { attributes: attributesIn(attributes) }),
        to: to as 'consumer' | 'ffl',
      } as never,
    ],
    ...(asOf && { as_of: asOf }),
  })
}

/** `magazine_capacity=30`, one to a line. */
function attributesIn(text: string): Record<string, string | number | boolean> {
  return Object.fromEntries(
    text
      .split('\n')
      .map((line) => line.split('='))
      .filter(([name, value]) => name?.trim() && value !== undefined)
      .map(([name, ...value]) => [name!.trim(), valueOf(value.join('=').trim())]),
  )
}

function valueOf(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}

function Verdict({ result }: { result: Result }) {
  const [item] = result.items
  if (!item) return null
  const rules = [
    ...item.blocking_rules.map((rule) => ({ rule, tone: 'bad' as const })),
    ...item.manual_review.map((rule) => ({ rule, tone: 'warn' as const })),
    ...item.warnings.map((rule) => ({ rule, tone: 'calm' as const })),
  ]
  const isBlocked = item.blocking_rules.length > 0
  return (
    <Section
      title={isBlocked ? t.blocked : item.approved ? t.mayGo : t.held}
      id="verdict"
      aside={
        <Badge tone={isBlocked ? 'bad' : item.approved ? 'good' : 'warn'}>
          {isBlocked ? t.kinds.BLOCK : item.approved ? t.approved : t.kinds.MANUAL_REVIEW}
        </Badge>
      }
    >
      {rules.length === 0 ? (
        <Empty title={t.noRule}>{t.noRuleMore}</Empty>
      ) : (
        <ul class="list">
          {rules.map(({ rule, tone }) => (
            <li key={rule.rule_id} class="top">
              <Badge tone={tone}>{t.kinds[rule.kind]}</Badge>
              <MatchedRule rule={rule} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function MatchedRule({ rule }: { rule: Matched }) {
  return (
    <div class="grow stack tight">
      <p>
        <a href={linkTo(['restrictions', 'rules'], { text: rule.rule_id })}>
          <code>{rule.rule_id}</code>
        </a>
      </p>
      <p class="strong">{rule.customer_message}</p>
      <p>
        {t.because}: {rule.reason}
      </p>
      {rule.missing.length > 0 && (
        <p>
          {t.missing}: {rule.missing.join(', ')}
        </p>
      )}
      {rule.would_change.length > 0 && (
        <p class="quiet">
          {t.wouldChange}: {rule.would_change.join('; ')}
        </p>
      )}
      <Citations citations={rule.citations} />
      {rule.overridden_by && (
        <p class="quiet">{t.overriddenBy(rule.overridden_by.author, rule.overridden_by.reason)}</p>
      )}
    </div>
  )
}

export function Citations({
  citations,
}: {
  citations: readonly { cite: string; url: string | null }[]
}) {
  return (
    <>
      {citations.map(({ cite, url }) => (
        <p key={cite} class="quiet">
          {url ? (
            <a href={url} rel="noreferrer" target="_blank">
              {cite}
            </a>
          ) : (
            cite
          )}
        </p>
      ))}
    </>
  )
}
