/**
 * Small answers of web services in XML. Nothing in them can point elsewhere or grow: no document
 * type, no entities but the five that every document has, and limits of size and depth.
 */
import { XMLParser, XMLValidator } from 'fast-xml-parser'

/** An element; attributes, comments and prefixes of names are left out. */
export interface XmlElement {
  readonly name: string
  /** All text directly in it, with entities resolved. */
  readonly text: string
  readonly children: readonly XmlElement[]
}

/** Why a text is no document that is read here. It holds nothing of the text. */
export class XmlFault extends Error {
  override readonly name = 'XmlFault'
}

/** Characters of a document. */
const LARGEST = 8 * 1_048_576
/** Elements within each other. */
const DEEPEST = 20

const TEXT = '#text'
const CDATA = '#cdata'
const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  removeNSPrefix: true,
  // They are resolved below, the known ones alone.
  processEntities: false,
  parseTagValue: false,
  trimValues: false,
  cdataPropName: CDATA,
  maxNestedTags: DEEPEST + 1,
})

/** Reads a whole document; one that is cut off is none. Throws an XmlFault. */
export function parseXml(text: string): XmlElement {
  if (text.length > LARGEST) throw new XmlFault(`it is longer than ${LARGEST} characters`)
  if (/<!DOCTYPE/i.test(text)) throw new XmlFault('it has a document type')
  // The parser itself reads what is cut off as if it had ended there.
  if (XMLValidator.validate(text) !== true || !text.trimEnd().endsWith('>'))
    throw new XmlFault('it is not well-formed')
  const [root, another] = childrenOf(parsed(text), 1)
  if (!root || another) throw new XmlFault('it does not have one root')
  return root
}

/** A node as the parser gives it: one member, by the name of the element or what else it is. */
type Node = Readonly<Record<string, unknown>>

function parsed(text: string): Node[] {
  try {
    return parser.parse(text) as Node[]
  } catch (error) {
    throw new XmlFault('it cannot be read', { cause: error })
  }
}

function childrenOf(nodes: readonly Node[], depth: number): XmlElement[] {
  const elements = nodes.flatMap((node) =>
    Object.entries(node).filter(([name]) => name !== TEXT && name !== CDATA),
  )
  if (elements.length > 0 && depth > DEEPEST)
    throw new XmlFault(`it is deeper than ${DEEPEST} elements`)
  return elements.map(([name, inner]) => ({
    name,
    text: textIn(inner as Node[]),
    children: childrenOf(inner as Node[], depth + 1),
  }))
}

const textIn = (nodes: readonly Node[]): string =>
  nodes
    .map((node) => {
      if (CDATA in node) return (node[CDATA] as Node[]).map((one) => String(one[TEXT])).join('')
      return TEXT in node ? withoutEntities(String(node[TEXT])) : ''
    })
    .join('')

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** A text with its entities resolved. Throws an XmlFault for one that nobody knows. */
export function withoutEntities(text: string): string {
  if (!text.includes('&')) return text
  if (!UNUSUAL.test(text))
    return text
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&')
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));?/gi, (whole, ...groups) => {
    const [decimal, hex, name] = groups as (string | undefined)[]
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    const char = name === undefined ? charOf(code) : NAMED[name]
    if (char === undefined || !whole.endsWith(';'))
      throw new XmlFault('it has an entity that nobody knows')
    return char
  })
}

/** An entity that is not one of the four of nearly every text. */
const UNUSUAL = /&(?!lt;|gt;|quot;|amp;)/

const charOf = (code: number): string | undefined =>
  code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined

/** A text as it stands within an element. */
export const escapeXml = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#xD;')
