/** Metrics in the text format of Prometheus. */

export interface Sample {
  /** Added to the name: `_bucket`, `_sum`, `_count` of a histogram. */
  suffix?: string
  labels?: Readonly<Record<string, string>>
  value: number
}

export interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** One line. */
  help: string
  samples: readonly Sample[]
}

export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export function textOf(families: readonly Family[]): string {
  return families
    .map(({ name, type, help, samples }) =>
      [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...samples.map((sample) => lineOf(name, sample)),
        '',
      ].join('\n'),
    )
    .join('')
}

function lineOf(name: string, { suffix = '', labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
  const named = `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''}`
  return `${named} ${Number.isFinite(value) ? value : value > 0 ? '+Inf' : 'NaN'}`
}

const escaped = (text: string) =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/** A family of one value. */
export const single = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  value: number,
): Family => ({ name, type, help, samples: [{ value }] })
