/** What a new installation still lacks before a shop sees offers; gone once nothing is missing. */
import { linkTo } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { useCall } from '../../core/use-call.js'
import { Section } from '../../parts/basics.js'
import { Icon } from '../../parts/icons.js'
import { texts } from '../../texts.js'

const t = texts.today.first

export function FirstSteps() {
  const { shop } = useShops()
  const feeds = useCall('distributors.list', {}).data?.distributors
  const saved = useCall('configurations.read', shop ? { subscriber: shop } : null).data
  const isKnown = shop !== undefined && feeds !== undefined && (shop === null || saved)
  const steps = [
    [shop !== null, t.shop, linkTo(['accounts'], { make: 'shop' })],
    [(saved?.version ?? 0) > 0, t.configuration, linkTo(['configuration'])],
    [feeds?.some(({ offers }) => offers > 0), t.feed, linkTo(['feeds', 'first'])],
  ] as const
  const next = steps.findIndex(([isDone]) => !isDone)
  if (!isKnown || next === -1) return null
  return (
    <Section title={t.title} note={t.note}>
      <ul class="list">
        {steps.map(([isDone, { what, why, act }, href], place) => (
          <li key={href}>
            <span class={`${isDone ? 'good' : 'calm'}-icon row`}>
              <Icon name={isDone ? 'good' : 'next'} />
            </span>
            <span class="grow">
              <span class="strong">{what}</span> <span class="quiet">{why}</span>
            </span>
            {!isDone && (
              <a class={place === next ? 'button primary' : 'button'} href={href}>
                {act}
              </a>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}
