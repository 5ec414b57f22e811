/** Today: is it well, what waits, what was sold. */
import { compact, count } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import type { Output } from '../../core/api.js'
import { useCall } from '../../core/use-call.js'
import { Badge, PageHead, Section } from '../../parts/basics.js'
import { ChartWithTable, Sparkline } from '../../parts/chart.js'
import { Icon } from '../../parts/icons.js'
import { Findings, worstFirst } from '../../parts/findings.js'
import { Empty, Loaded } from '../../parts/states.js'
import { texts } from '../../texts.js'
import { Paused } from '../orders/paused.js'
import { FirstSteps } from './first-steps.js'

type Overview = Output<'overview.today'>

export function Today() {
  const overview = useCall('overview.today', {}, { every: 60_000 })
  return (
    <>
      <PageHead title={texts.pages.today} question={texts.today.question} />
      <Loaded reading={overview} lines={12}>
        {(data) => (
          <>
            <FirstSteps />
            <Sold days={data.days} />
            <div class="columns">
              <Waits waiting={data.waiting} onDone={overview.reload} />
              <Well checks={data.checks} />
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

const FIGURES = [
  ['orders', count],
  ['units', count],
  ['refused', count],
  ['requests', compact],
] as const

function Sold({ days }: Pick<Overview, 'days'>) {
  return (
    <>
      <div class="tiles">
        {FIGURES.map(([name, format]) => (
          <div class="tile" key={name}>
            <span class="name">{texts.today.figures[name]}</span>
            <span class="figure">{format(days.reduce((sum, day) => sum + day[name], 0))}</span>
            <Sparkline
              label={texts.today.perDay(texts.today.figures[name])}
              values={days.map((day) => day[name])}
            />
          </div>
        ))}
      </div>
      <Section title={texts.today.sold}>
        <ChartWithTable
          label={texts.today.perDay(texts.today.figures.orders)}
          at={days.map(({ day }) => day)}
          form="bars"
          format={count}
          series={[{ label: texts.today.figures.orders, values: days.map(({ orders }) => orders) }]}
          more={[
            { label: texts.today.figures.units, values: days.map(({ units }) => count(units)) },
            {
              label: texts.today.figures.refused,
              values: days.map(({ refused }) => count(refused)),
            },
            {
              label: texts.today.figures.requests,
              values: days.map(({ requests }) => count(requests)),
            },
          ]}
        />
      </Section>
    </>
  )
}

function Waits({ waiting, onDone }: Pick<Overview, 'waiting'> & { onDone: () => Promise<void> }) {
  const { today } = texts
  const lines = [
    [waiting.review, today.review, linkTo(['orders'], { show: 'review' }), today.decide, 'bad'],
    [waiting.refused_feeds.length, today.refused, linkTo(['feeds']), today.decide, 'warn'],
    [
      waiting.paperwork,
      today.paperwork,
      linkTo(['orders'], { show: 'paperwork' }),
      today.look,
      'warn',
    ],
    [waiting.held_removals, today.held, linkTo(['dealers', 'import']), today.look, 'warn'],
    [waiting.licenses, today.expiring, linkTo(['dealers', 'expiring']), today.look, 'warn'],
    [waiting.unknown, today.unknown, linkTo(['orders'], { show: 'open' }), today.look, 'calm'],
  ] as const
  const due = lines.filter(([many]) => many > 0)
  return (
    <Section title={today.waits}>
      {waiting.paused !== null && (
        <div class="body">
          <Paused reason={waiting.paused} onDone={onDone} />
        </div>
      )}
      {due.length === 0 && waiting.paused === null ? (
        <Empty title={today.nothingWaits}>{today.nothingWaitsMore}</Empty>
      ) : (
        <ul class="list">
          {due.map(([many, say, href, what, tone]) => (
            <li key={href}>
              <span class={`${tone}-icon row`}>
                <Icon name={tone === 'calm' ? 'next' : 'warn'} />
              </span>
              <span class="grow">{say(many)}</span>
              <a class="button" href={href}>
                {what}
              </a>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function Well({ checks }: Pick<Overview, 'checks'>) {
  const odd = checks.filter(({ severity }) => severity === 'warn' || severity === 'bad')
  return (
    <Section
      title={texts.today.well}
      aside={
        <Badge tone={odd.length === 0 ? 'good' : 'warn'}>
          {odd.length === 0 ? texts.today.allWell : texts.today.notWell(odd.length)}
        </Badge>
      }
    >
      <Findings findings={worstFirst(checks)} />
    </Section>
  )
}
