/** Charts, each with its figures in a table beside it. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { day } from '../core/format.js'
import { isDark } from '../core/settings.js'
import { texts } from '../texts.js'
import { Table } from './table.js'

export interface Series {
  label: string
  values: readonly (number | null)[]
  /** Of the palette, from 1. */
  color?: number
}

export interface ChartProps {
  label: string
  /** Days as `YYYY-MM-DD`, or times in RFC 3339. */
  at: readonly string[]
  series: readonly Series[]
  format?: (value: number) => string
  /** A value holds until the next one, as a price does; or each day has its own bar. */
  form?: 'line' | 'steps' | 'bars'
  height?: number
  /** How a time is told in the table. */
  formatAt?: (at: number) => string
}

/** `more` are columns of the table that have no line of their own. */
export function ChartWithTable({
  more = [],
  ...props
}: ChartProps & { more?: readonly { label: string; values: readonly string[] }[] }) {
  const { label, at, series, format = String, formatAt = day } = props
  const rows = at.map((time, place) => ({ time, place })).reverse()
  return (
    <div class="chart-with-table">
      <div>
        <Chart {...props} />
        {series.length > 1 && (
          <ul class="chart-lines">
            {series.map(({ label: name, color }, place) => (
              <li key={name}>
                <i style={{ background: `var(${colorName(color ?? place + 1)})` }} /> {name}
              </li>
            ))}
          </ul>
        )}
      </div>
      <Table
        label={texts.words.figuresOf(label)}
        rows={rows}
        keyOf={({ time }) => time}
        columns={[
          { head: texts.words.day, cell: ({ time }) => formatAt(Date.parse(time)) },
          ...series.map(({ label: head, values }) => ({
            head,
            isNumber: true,
            cell: ({ place }: { place: number }) => {
              const value = values[place]
              return value === null || value === undefined ? '–' : format(value)
            },
          })),
          ...more.map(({ label: head, values }) => ({
            head,
            isNumber: true,
            cell: ({ place }: { place: number }) => values[place],
          })),
        ]}
      />
    </div>
  )
}

export function Chart({
  label,
  at,
  series,
  format = String,
  form = 'line',
  height = 180,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const dark = isDark.value
  const data = useMemo(
    () =>
      [
        at.map((time) => Date.parse(time) / 1000),
        ...series.map(({ values }) => [...values]),
      ] as uPlot.AlignedData,
    [at, series],
  )
  useEffect(() => {
    const element = holder.current
    if (!element) return undefined
    const plot = new uPlot(
      optionsOf(element, { label, at, series, format, form, height }),
      data,
      element,
    )
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0) plot.setSize({ width: element.clientWidth, height })
    })
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [data, dark, form])
  return <div class="chart" ref={holder} role="img" aria-label={label} />
}

const HALF_DAY = 43_200
/** Steps of an axis that counts: 1, 2, 5, 10 and so on. */
const WHOLE_STEPS = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat()
/** Colors of the palette; what has more lines than these begins again. */
const COLORS = 8

const colorName = (color: number) => `--chart-${((color - 1) % COLORS) + 1}`

/** Colors stand in the style, so that the theme decides; a canvas wants them resolved. */
function colorOf(element: HTMLElement, name: string): string {
  const before = element.style.color
  element.style.color = `var(${name})`
  const { color } = getComputedStyle(element)
  element.style.color = before
  return color
}

function optionsOf(
  element: HTMLElement,
  { series, format = String, form, height = 180 }: ChartProps,
): uPlot.Options {
  const isWhole = series.every(({ values }) =>
    values.every((value) => value === null || Number.isInteger(value)),
  )
  const [quiet, line] = [colorOf(element, '--quiet'), colorOf(element, '--line')]
  const axis = {
    stroke: quiet,
    font: '11px system-ui, sans-serif',
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
  }
  const { steppedPath, barPath } = {
    steppedPath: uPlot.paths.stepped!({ align: 1 }),
    barPath: uPlot.paths.bars!({ size: [0.7, 40] }),
  }
  return {
    width: element.clientWidth || 300,
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      // A bar of the first and of the last day is as wide as any.
      x: {
        range: (_, least, most) =>
          form === 'bars' ? [least - HALF_DAY, most + HALF_DAY] : [least, most],
      },
      y: {
        range: (_, least, most) =>
          form === 'steps'
            ? [Math.min(least, most * 0.9), most * 1.05 || 1]
            : [Math.min(0, least), most * 1.1 || 1],
      },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 60 },
      {
        ...axis,
        size: 58,
        space: 36,
        values: (_, splits) => splits.map((value) => format(value)),
        // There is no half of an order.
        ...(isWhole && { incrs: WHOLE_STEPS }),
      },
    ],
    series: [
      {},
      ...series.map(({ label, color }, place) => {
        const stroke = colorOf(element, colorName(color ?? place + 1))
        return {
          label,
          stroke,
          width: 1.5,
          fill: form === 'bars' ? stroke : undefined,
          points: { show: false },
          spanGaps: true,
          paths: form === 'bars' ? barPath : form === 'steps' ? steppedPath : undefined,
        }
      }),
    ],
  }
}

/** A small line without axes, for a figure's last days. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const most = Math.max(...values, 1)
  const step = values.length > 1 ? 100 / (values.length - 1) : 0
  const points = values.map((value, place) => `${place * step},${27 - (value / most) * 25}`)
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 28"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon class="under" points={`0,28 ${points.join(' ')} 100,28`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}
