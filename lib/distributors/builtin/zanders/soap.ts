/**
 * SOAP 1.2 as Zanders' services speak it: calls by position and name (rpc), with types (encoded),
 * and maps as Apache writes them. Calls are written by hand, and answers read strictly: one that is
 * anything else than what was asked for is no answer.
 */
import { escapeXml, parseXml, XmlFault } from '../../session/xml.js'
import type { XmlElement } from '../../session/xml.js'

export type Value = string | number | boolean | ValueMap | readonly ValueMap[]
export interface ValueMap {
  readonly [name: string]: Value
}

/** What was answered: texts, whatever their type, maps, and lists of maps. */
export type Answered = string | AnsweredMap | readonly AnsweredMap[]
export type AnsweredMap = ReadonlyMap<string, Answered>

export const SOAP_HEADERS = { 'content-type': 'application/soap+xml; charset=utf-8' }

const ENVELOPE = 'http://www.w3.org/2003/05/soap-envelope'
const ENCODING = 'http://www.w3.org/2003/05/soap-encoding'
const SCHEMA = 'http://www.w3.org/2001/XMLSchema'
const MAP = 'http://xml.apache.org/xml-soap'
const RPC = 'http://www.w3.org/2003/05/soap-rpc'

/** A call of an operation of a namespace. */
export const writeCall = (namespace: string, operation: string, params: ValueMap): string =>
  envelopeOf(namespace, operation, elementsOf(params))

/** What answers it. */
export const writeAnswer = (namespace: string, operation: string, map: ValueMap): string =>
  envelopeOf(
    namespace,
    `${operation}Response`,
    `<rpc:result xmlns:rpc="${RPC}">return</rpc:result>${element('return', map)}`,
  )

const envelopeOf = (namespace: string, name: string, content: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  `<env:Envelope xmlns:env="${ENVELOPE}" xmlns:ns1="${namespace}" xmlns:xsd="${SCHEMA}" ` +
  `xmlns:xsi="${SCHEMA}-instance" xmlns:ns2="${MAP}" xmlns:enc="${ENCODING}"><env:Body>` +
  `<ns1:${name} env:encodingStyle="${ENCODING}">${content}</ns1:${name}>` +
  '</env:Body></env:Envelope>\n'

const elementsOf = (params: ValueMap): string =>
  Object.entries(params)
    .map(([name, value]) => element(name, value))
    .join('')

function element(name: string, value: Value): string {
  if (typeof value === 'string')
    return `<${name} xsi:type="xsd:string">${escapeXml(value)}</${name}>`
  if (typeof value === 'number') return `<${name} xsi:type="xsd:int">${value}</${name}>`
  if (typeof value === 'boolean') return `<${name} xsi:type="xsd:boolean">${value}</${name}>`
  if (!isList(value)) return `<${name} xsi:type="ns2:Map">${itemsOf(value)}</${name}>`
  const type = `enc:itemType="ns2:Map" enc:arraySize="${value.length}" xsi:type="enc:Array"`
  const items = value.map((one) => `<item xsi:type="ns2:Map">${itemsOf(one)}</item>`)
  return `<${name} ${type}>${items.join('')}</${name}>`
}

const isList = (value: ValueMap | readonly ValueMap[]): value is readonly ValueMap[] =>
  Array.isArray(value)

const itemsOf = (map: ValueMap): string =>
  Object.entries(map)
    .map(
      ([key, value]) =>
        `<item><key xsi:type="xsd:string">${escapeXml(key)}</key>${element('value', value)}</item>`,
    )
    .join('')

/** What a service says it could not do, instead of an answer. */
export class SoapFault extends Error {
  override readonly name = 'SoapFault'
}

/** The map that an operation answers. Throws an XmlFault, and a SoapFault. */
export function readAnswer(text: string, operation: string): AnsweredMap {
  const answer = contentOf(text)
  if (answer.name === 'Fault') throw new SoapFault(reasonIn(answer))
  const returned = answer.children.filter(({ name }) => name === 'return')
  if (answer.name !== `${operation}Response` || returned.length !== 1) throw unread()
  return mapOf(returned[0]!)
}

/** A call as whoever answers it reads it. Throws an XmlFault. */
export function readCall(text: string): { operation: string; params: AnsweredMap } {
  const { name: operation, children } = contentOf(text)
  return { operation, params: new Map(children.map((one) => [one.name, valueOf(one)])) }
}

/** The one thing that a body holds. */
function contentOf(text: string): XmlElement {
  const envelope = parseXml(text)
  const bodies = envelope.children.filter(({ name }) => name === 'Body')
  const [content, another] = bodies[0]?.children ?? []
  if (envelope.name !== 'Envelope' || bodies.length !== 1 || !content || another) throw unread()
  return content
}

/** A document without attributes tells a map by its keys, and a list by items that are maps. */
function valueOf(element: XmlElement): Answered {
  if (element.children.length === 0) return element.text.trim()
  const isMap = element.children.every(({ children }) =>
    children.some(({ name }) => name === 'key'),
  )
  if (isMap) return mapOf(element)
  return element.children.map((item) => {
    if (item.name !== 'item') throw unread()
    return mapOf(item)
  })
}

function mapOf({ text, children }: XmlElement): AnsweredMap {
  const map = new Map<string, Answered>()
  for (const { name, children: parts } of children) {
    const [key, value, more] = parts
    const isPair = key?.name === 'key' && value?.name === 'value' && !more
    if (name !== 'item' || !isPair || key.children.length > 0 || map.has(key.text.trim()))
      throw unread()
    map.set(key.text.trim(), valueOf(value))
  }
  if (text.trim() !== '') throw unread()
  return map
}

/** In SOAP 1.2, or as services of 1.1 write it. */
function reasonIn(fault: XmlElement): string {
  const named = (of: XmlElement, ...names: string[]) =>
    of.children.find(({ name }) => names.includes(name))
  const reason = named(fault, 'Reason', 'faultstring')
  return ((reason && named(reason, 'Text')) ?? reason)?.text.trim() ?? ''
}

const unread = () => new XmlFault('it is no answer to what was asked')
