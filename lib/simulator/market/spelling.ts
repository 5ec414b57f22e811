/**
 * How each distributor writes the same item. No two of them agree, which is what makes matching by
 * UPC worth having.
 */
import type { Good } from './goods.js'
import { brandAt, BRANDS, type DemoDistid, SHORT_FORMS } from './market.js'

type Style = DemoDistid | 'prose'

/** The item's name in a distributor's own style. */
export function nameAt(distid: DemoDistid, good: Good): string {
  switch (distid) {
    case 'RSR':
      return `${shelfWord(good.brand)} ${fill(good, good.family.name, 'RSR')}`.toUpperCase()
    case 'LIP':
      return fill(good, good.family.name, 'LIP').toUpperCase()
    case 'CSSI':
      return `${brandAt('CSSI', good.brand)} ${fill(good, good.family.title, 'CSSI')}`
  }
}

/** The name as a maker would print it, for documents and examples. */
export function plainName(good: Good): string {
  return `${BRANDS[good.brand]} ${fill(good, good.family.title, 'CSSI')}`
}

/** One to three sentences made from the item's attributes. */
export function describe(good: Good): string {
  let text = ''
  for (const sentence of good.family.text)
    text += (text === '' ? '' : ' ') + tidy(fill(good, sentence, 'prose'))
  return text
}

/** RSR's expanded description: a list rather than sentences. */
export function expandedDescription(good: Good): string {
  let text = `${BRANDS[good.brand]}, ${good.model}, ${good.family.noun}`
  for (const key in good.values)
    text +=
      ', ' +
      `${good.values[key]}${key === 'barrel' ? '" Barrel' : key === 'capacity' ? ' Rounds' : ''}`
  return text
}

function shelfWord(brand: string): string {
  return BRANDS[brand]!.split(' ')[0]!
}

const templates = new Map<string, string[]>()

function fill(good: Good, template: string, style: Style): string {
  let parts = templates.get(template)
  if (parts === undefined) templates.set(template, (parts = template.split(/[{}]/)))
  let text = parts[0]!
  for (let i = 1; i < parts.length; i += 2) {
    const key = parts[i]!
    text +=
      (key === 'model' ? good.model : spell(good, key, good.values[key]!, style)) + parts[i + 1]!
  }
  return text
}

function spell(good: Good, key: string, value: string, style: Style): string {
  if (style === 'prose')
    return key === 'barrel' ? `${value}-inch` : AS_WRITTEN.has(key) ? value : lowerWords(value)
  switch (key) {
    case 'barrel':
      return style === 'CSSI' ? `${value} in` : `${value}"`
    case 'capacity':
      return style === 'LIP' && isAutoPistol(good)
        ? `${value}+1`
        : style === 'RSR'
          ? `${value}RD`
          : `${value}rd`
    case 'grain':
      return /^\d+$/.test(value) ? `${value}gr` : value
    case 'rounds':
      return style === 'CSSI' ? `${value} Rounds` : `${value}RD`
    case 'caliber':
    case 'bullet':
      return style === 'CSSI' ? value : (SHORT_FORMS[value] ?? value)
    default:
      return style === 'RSR' ? shorten(value) : value
  }
}

function isAutoPistol(good: Good): boolean {
  return good.family.lip?.[1] === 'Semi-Auto Pistol'
}

const shorten = remember(
  (value) =>
    SHORT_FORMS[value] ??
    value
      .split(' ')
      .map((word) => SHORT_FORMS[word] ?? word)
      .join(' '),
)

/** Proper names stay as they are within a sentence; a color or a material does not. */
const AS_WRITTEN = new Set(['caliber', 'fit', 'steel', 'reticle'])

const lowerWords = remember((value) =>
  value.replace(/\b(?!Kydex|Picatinny|Inconel)[A-Z][a-z]+/g, (word) => word.toLowerCase()),
)

/** A few hundred values make all the names, so each is spelled once. */
function remember(spellOut: (value: string) => string): (value: string) => string {
  const known = new Map<string, string>()
  return (value) => {
    let text = known.get(value)
    if (text === undefined) known.set(value, (text = spellOut(value)))
    return text
  }
}

function tidy(sentence: string): string {
  const text = sentence.replace(/\b([Aa]) (?=[aeioAEIO8]|1[18]\b)/g, '$1n ')
  return text[0]!.toUpperCase() + text.slice(1)
}
