/** Which columns of a file a preset needs, and which it reads. */
import { fold } from './casts.js'
import type { Preset, Quantity } from './preset.js'

/** The columns of the preset that this header lacks; of alternatives, joined by " or ". */
export function missingColumns(preset: Preset, header: readonly string[]): string[] {
  const has = new Set(header.map(fold))
  return preset.required
    .map((column) => (typeof column === 'string' ? [column] : column))
    .filter((names) => !names.some((name) => has.has(fold(name))))
    .map((names) => names.join(' or '))
}

/**
 * The columns that decide what the preset reads and that this header has, alternatives as one,
 * joined by " or ".
 */
export function mappedColumns(preset: Preset, header: readonly string[]): string[] {
  const has = new Set(header.map(fold))
  const mapped = new Map<string, boolean>()
  for (const names of columnsOf(preset))
    mapped.set(
      names.join(' or '),
      names.some((name) => has.has(fold(name))),
    )
  return [...mapped.keys()].filter((label) => mapped.get(label))
}

/** Each set of columns of which the first that is there counts. */
function columnsOf(preset: Preset): (readonly string[])[] {
  const alone = (names: readonly string[]) => names.map((name) => [name])
  const quantityOf = (qty: Quantity) => ('sum' in qty ? alone(qty.sum) : [qty.from])
  if (preset.kind === 'quantity') return [preset.key, ...quantityOf(preset.qty)]
  const { qty, price, ...fields } = preset.map
  const conditions = [
    ...(preset.zeroWhen ?? []),
    ...preset.classify.flatMap((rule): readonly { column: string }[] =>
      'names' in rule ? [rule] : rule.when,
    ),
  ]
  return [
    preset.key,
    ...quantityOf(qty),
    price.from,
    ...(price.sale ? [price.sale.from, [price.sale.ends]] : []),
    ...Object.values(fields).flatMap((field) => {
      if ('template' in field)
        return alone([...field.template.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!))
      return 'from' in field ? [field.from] : []
    }),
    ...alone([
      ...conditions.map(({ column }) => column),
      ...(preset.gunWordsIn ?? []),
      ...(preset.attributes ?? []).map(({ column }) => column),
      ...Object.values(preset.stateFlags?.columns ?? {}),
    ]),
  ]
}

/** Every column that a preset may read, once. */
export const allColumns = (preset: Preset): string[] => [
  ...new Map(
    [...preset.required.flat(), ...columnsOf(preset).flat(), ...repeatsOf(preset)].map((name) => [
      fold(name),
      name,
    ]),
  ).values(),
]

const repeatsOf = (preset: Preset) => (preset.kind === 'catalog' ? (preset.repeats ?? []) : [])
