/** Price and stock of an item over 90 days, at each distributor. */
import { useState } from 'preact/hooks'
import { count, day, money } from '../../core/format.js'
import { useLong } from '../../core/jobs.js'
import { Button, Section } from '../../parts/basics.js'
import { ChartWithTable } from '../../parts/chart.js'
import { Icon } from '../../parts/icons.js'
import { Empty, Loaded } from '../../parts/states.js'
import { texts } from '../../texts.js'

const t = texts.catalog
const FIGURES = [
  { of: 'price', label: t.price, format: money },
  { of: 'qty', label: t.stock, format: count },
] as const

/** It is read out of all the days' files by a process of its own, so only for who asks for it. */
export function Course({ upc }: { upc: string }) {
  const [isAsked, setAsked] = useState(false)
  return (
    <Section
      title={t.course}
      note={t.courseNote}
      aside={isAsked ? null : <Button onClick={() => setAsked(true)}>{t.showCourse}</Button>}
    >
      {isAsked && <Charts upc={upc} />}
    </Section>
  )
}

function Charts({ upc }: { upc: string }) {
  const reading = useLong('analytics.showItem', { upc })
  return (
    <Loaded reading={reading} lines={8}>
      {({ days, distributors, damaged }) =>
        distributors.length === 0 ? (
          <Empty title={t.noCourse}>{t.noCourseMore}</Empty>
        ) : (
          <>
            {damaged.length > 0 && (
              <div class="notice">
                <Icon name="warn" />
                <p>{t.damagedDays(damaged.map((one) => day(Date.parse(one))))}</p>
              </div>
            )}
            {FIGURES.map(({ of, label, format }) => (
              <div key={of}>
                <h3 class="chart-title">{label}</h3>
                <ChartWithTable
                  label={label}
                  at={days}
                  form="steps"
                  format={format}
                  series={distributors.map(({ distid, ...course }) => ({
                    label: distid,
                    values: course[of],
                  }))}
                />
              </div>
            ))}
          </>
        )
      }
    </Loaded>
  )
}
