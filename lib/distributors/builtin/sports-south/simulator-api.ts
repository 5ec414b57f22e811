/** Sports South's web services as a simulator answers them: who may ask, and in which form. */
import type { Profile, World } from '../../../simulator/engine/world.js'
import type { Handled, WireAnswer, WireRequest } from '../../../simulator/wire/http-simulator.js'
import { escapeXml } from '../../session/xml.js'
import type { Service } from './api.js'
import type { Call, Operation, Told } from './simulator-operation.js'
import { INVENTORY } from './simulator-items.js'
import { INVOICE_LISTS, ORDER_LISTS } from './simulator-lists.js'
import { ORDERS } from './simulator-orders.js'

export const BASE = '/smart/'

const PREFS: Operation = {
  params: [],
  act: () => ({
    told: {
      rows: [{ CUEML: 'store@demo-shop.example', STMNTS: '', MKTG: '', EMLSTM: 'E', EMLINV: 'E' }],
    },
  }),
}

const SERVICES: Readonly<Record<Service, Readonly<Record<string, Operation>>>> = {
  inventory: INVENTORY,
  orders: { ...ORDERS, ...ORDER_LISTS },
  invoices: INVOICE_LISTS,
  users: { GetEmailPrefs: PREFS },
}

/** By service and operation in lower case: a server of this kind does not mind capitals. */
const OPERATIONS = new Map(
  Object.entries(SERVICES).flatMap(([service, operations]) =>
    Object.entries(operations).map(([name, operation]) => [
      `${service}.asmx/${name}`.toLowerCase(),
      { service: service as Service, name, operation },
    ]),
  ),
)

const LOGIN = ['UserName', 'Password', 'CustomerNumber', 'Source']

/** Answers calls of these services, whoever makes them: by GET, or with a posted form. */
export function sportsSouthApi(world: World, profile: Profile): (request: WireRequest) => Handled {
  const begun = new WeakSet<object>()
  return (request) => {
    const { method, visit, query, body } = request
    const path = request.path.toLowerCase()
    const found = OPERATIONS.get(path.startsWith(BASE) ? path.slice(BASE.length) : '')
    if (!found) return { answer: { status: 404, body: 'The resource cannot be found.' } }
    const { service, operation, name } = found
    if (method !== 'GET' && method !== 'POST') return { answer: failed('Invalid HTTP verb') }
    const given = fieldsOf(method === 'GET' ? query.toString() : body.toString('utf8'))
    const missing = [...LOGIN, ...operation.params].find((one) => !given.has(one.toLowerCase()))
    if (missing !== undefined) return { answer: failed(`Missing parameter: ${missing}.`) }
    const field = (one: string) => given.get(one.toLowerCase()) ?? ''
    if (!isKnown(profile, field)) return { answer: written(service, refusalOf(name)) }
    const isFirst = visit !== null && !begun.has(visit)
    if (visit) begun.add(visit)
    const account = field('CustomerNumber')
    const { told, fault = null } = operation.act({ world, profile, visit, isFirst, account, field })
    return { answer: written(service, told), fault }
  }
}

/** Names in lower case; of one that is given twice, the first counts. */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text))
    if (!fields.has(name.toLowerCase())) fields.set(name.toLowerCase(), value)
  return fields
}

function isKnown({ credentials }: Profile, field: Call['field']): boolean {
  return (
    field('UserName') === credentials['api_user'] &&
    field('CustomerNumber') === credentials['api_customer_number'] &&
    field('Password') === credentials['api_password']
  )
}

/** Answers that are documents have it in a row; all others are the words themselves. */
const refusalOf = (name: string): Told =>
  /^Get|Update$|Inquiry$/.test(name)
    ? { rows: [{ ERROR: 'NOT AUTHENTICATED' }] }
    : { string: 'NOT AUTHENTICATED' }

const failed = (body: string): WireAnswer => ({ status: 500, body: `${body}\r\n` })

const NAMESPACES: Readonly<Record<Service, string>> = {
  inventory: 'Inventory.asmx',
  orders: 'Orders',
  invoices: 'Invoices.asmx',
  users: 'Users.asmx',
}

function written(service: Service, told: Told): WireAnswer {
  if ('down' in told) return { status: 503, body: 'Service Unavailable' }
  const [type, text] =
    'int' in told
      ? ['int', told.int]
      : 'boolean' in told
        ? ['boolean', String(told.boolean)]
        : ['string', 'rows' in told ? dataSet(told) : told.string]
  const namespace = `http://webservices.theshootingwarehouse.com/smart/${NAMESPACES[service]}`
  return {
    status: 200,
    headers: { 'content-type': 'text/xml; charset=utf-8' },
    body:
      '<?xml version="1.0" encoding="utf-8"?>\r\n' +
      `<${type} xmlns="${namespace}">${escapeXml(text)}</${type}>`,
  }
}

/** Rows as the document within the document. */
function dataSet({ rows, element = 'Table' }: Extract<Told, { rows: unknown }>): string {
  if (rows.length === 0) return '<NewDataSet />'
  const lines = rows.flatMap((row) => [
    `  <${element}>`,
    ...Object.entries(row).map(([name, text]) =>
      text === '' ? `    <${name} />` : `    <${name}>${escapeXml(text)}</${name}>`,
    ),
    `  </${element}>`,
  ])
  return ['<NewDataSet>', ...lines, '</NewDataSet>'].join('\r\n')
}
