/**
 * A distributor as a document: where its files lie, how their rows become offers, and how an order
 * is written. It is data, and its power to express is small on purpose: no document runs code.
 */
import * as z from 'zod'
import { PRODUCT_CLASSES } from '../product-classes.js'
import type { ProductClass } from '../product-classes.js'

const text = z.string().min(1)
const names = z.array(text).min(1)
/** Columns, of which the first that holds something counts. */
const columns = names.describe('Columns; the first that holds something counts')

const format = z.strictObject({
  delimiter: z.string().length(1, 'must be one character; a tab is "\\t"'),
  quote: z.literal('"').nullable().describe('null: a quotation mark is a character like others'),
  header: z.boolean().describe('The first row names the columns'),
  columns: names.optional().describe('Without a header: the columns in their order'),
  minColumns: z.number().int().positive().optional(),
})

const none = names.optional().describe('Texts that stand for none')
const field = z.union([
  z.strictObject({ from: columns, none }),
  z.strictObject({ template: text.describe('A text with {column} in it'), none }),
  z.strictObject({ constant: text }),
])
const money = z.strictObject({ from: columns })
const flag = z.union([
  z.strictObject({ from: columns, yes: z.array(z.string()).min(1) }),
  z.strictObject({ from: columns, no: z.array(z.string()).min(1) }),
])
const quantity = z.union([money, z.strictObject({ sum: names })])
const images = z.union([
  z.strictObject({
    from: columns,
    none,
    separator: text.optional(),
    dropQuery: z.boolean().optional(),
  }),
  z.strictObject({ template: text, none, dropQuery: z.boolean().optional() }),
])

const condition = z.union([
  z.strictObject({ column: text, in: z.array(z.string()).min(1) }),
  z.strictObject({ column: text, startsWith: names }),
  z.strictObject({ column: text, contains: names }),
  z.strictObject({ column: text, namesGun: z.literal(true) }),
  z.strictObject({ column: text, filled: z.literal(true) }),
])
const outcome = z.strictObject({
  productClass: z.enum(Object.keys(PRODUCT_CLASSES) as [ProductClass, ...ProductClass[]]),
  ffl: z.boolean().optional().describe('FA and SO need a license whatever is said here'),
  category: z.tuple([z.number().int().nullable(), text]).optional(),
  dropShip: z.literal(false).optional().describe('Never to a customer'),
})
const rule = z.strictObject({ when: z.array(condition).min(1), set: outcome })
const nameTable = z.strictObject({
  column: text,
  separator: text,
  names: z
    .array(z.strictObject({ names, general: z.literal(true).optional(), set: outcome }))
    .min(1),
})

const map = z.strictObject({
  distsku: field.optional(),
  upc: money.optional(),
  name: field.optional(),
  mfgName: field.optional(),
  mpn: field.optional(),
  itemCat: field.optional(),
  productUrl: field.optional(),
  shortDescription: field.optional(),
  description: field.optional(),
  price: z.strictObject({
    from: columns,
    regular: names.optional(),
    sale: z.strictObject({ from: columns, ends: text }).optional(),
  }),
  map: money.optional(),
  msrp: money.optional(),
  shipping: money.optional(),
  qty: quantity,
  dropShip: flag.optional(),
  images: images.optional(),
})

/** How rows are written: of one kind each. */
const reading = z.discriminatedUnion('as', [
  z.strictObject({ as: z.literal('delimited'), format }),
  z.strictObject({
    as: z.literal('fixed'),
    columns: z
      .array(
        z.strictObject({
          name: text,
          start: z.number().int().positive().describe('From 1'),
          length: z.number().int().positive(),
        }),
      )
      .min(1),
    skipLines: z.number().int().nonnegative().optional(),
  }),
  z.strictObject({
    as: z.literal('json'),
    rows: z.string().describe('Where the list is, with dots: data.items; empty for the root'),
  }),
  z.strictObject({ as: z.literal('xml') }),
])
const source = z.strictObject({
  connection: text,
  path: text.describe('With a * in its last part: the newest file whose name fits'),
  unpack: z.enum(['gzip', 'zip']).optional(),
  encoding: z
    .enum(['utf-16le'])
    .optional()
    .describe('Without it UTF-8 or Windows-1252, told apart'),
  read: reading,
})
const everyMinutes = z
  .number()
  .int()
  .min(1)
  .max(1_440)
  .optional()
  .describe('Minutes from one pull to the next, 20 by default')
const feedCommon = {
  everyMinutes,
  id: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, 'must be small letters, digits and -, such as acme'),
  source,
  join: z
    .strictObject({
      ...source.shape,
      on: z.strictObject({ ours: text, theirs: text }),
      columns: names.describe('Columns of the other file that stand beside ours'),
    })
    .optional(),
  required: z.array(z.union([text, names])).min(1),
  key: names,
}
const catalogFeed = z.strictObject({
  ...feedCommon,
  kind: z.literal('catalog'),
  map,
  repeats: names.optional(),
  zeroWhen: z.array(condition).optional(),
  classify: z.array(z.union([rule, nameTable])),
  gunWordsIn: names.optional(),
  attributes: z
    .array(
      z.strictObject({ column: text, name: text.optional(), only: z.array(z.string()).optional() }),
    )
    .optional(),
  stateFlags: z
    .strictObject({
      columns: z.record(
        z.string().regex(/^[A-Z]{2}$/, 'must be a state in two capital letters, such as CA'),
        text,
      ),
      restricts: z.array(z.string()).min(1),
      permits: z.array(z.string()).optional(),
    })
    .optional(),
})
const quantityFeed = z.strictObject({ ...feedCommon, kind: z.literal('quantity'), qty: quantity })
/** Read by a preset that comes with the program. */
const presetFeed = z.strictObject({
  id: z.string().describe('The id of a preset that comes with the program'),
  kind: z.literal('preset'),
  everyMinutes,
  source: z.strictObject({
    connection: text,
    path: text,
    unpack: z.enum(['gzip', 'zip']).optional(),
  }),
})

const credentials = {
  user: text.describe('A text with {setting} in it'),
  password: text.describe('A text with {setting} in it'),
}
const server = {
  host: z
    .string()
    .regex(
      /^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|[0-9a-fA-F:]+)$/,
      'must be the name of a server alone, such as ftp.acme.example; the port is a member of its own',
    ),
  port: z.number().int().min(1).max(65_535).optional(),
}
const connection = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('folder'),
    path: z
      .string()
      .regex(/^(\/|[A-Za-z]:[\\/])/, 'must be the whole path of a folder, such as /srv/feeds/acme')
      .describe('A folder of this machine'),
  }),
  z.strictObject({
    kind: z.literal('http'),
    url: z
      .string()
      .regex(
        /^https?:\/\/[^/?#@\s{}]+(\/[^?#\s{}]*)?$/,
        'must be an address such as https://feeds.acme.example/files; a query stands in the path of ' +
          'a feed, a login in headers or oauth',
      ),
    headers: z.record(z.string(), z.string()).optional(),
    oauth: z
      .strictObject({ path: text, clientId: text, clientSecret: text })
      .optional()
      .describe('A token by client credentials (OAuth 2), asked for at this path'),
  }),
  z.strictObject({ kind: z.literal('ftp'), ...server, ...credentials }),
  z.strictObject({ kind: z.literal('ftps'), ...server, ...credentials }),
  z.strictObject({
    kind: z.literal('sftp'),
    ...server,
    ...credentials,
    hostKey: z
      .string()
      .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'must be SHA256:… as ssh-keygen -l shows it'),
  }),
])

const template = z.strictObject({
  escape: z.enum(['tab', 'csv', 'pipe', 'xml']).describe('How values are written'),
  head: z.string().optional(),
  line: text.describe('Repeated for each line of the order'),
  tail: z.string().optional(),
})
const templates = z
  .strictObject({
    customer: template.optional(),
    dealer: template.optional(),
    store: template.optional(),
  })
  .describe('What goes where; an order of a kind that is missing is left to a person')
const poLimits = z.strictObject({
  max: z.number().int().min(16).max(50),
  chars: z
    .string()
    .regex(/^[A-Za-z0-9 ._-]+$/, 'must be letters, digits, blanks, dots, _ and -')
    .optional()
    .describe('Every character that a PO may hold; ranges such as A-Z are allowed'),
})
const answer = z.strictObject({
  source: z.strictObject({ connection: text, path: text, read: reading }),
  tells: z.enum(['acknowledgement', 'shipment', 'problem']),
  columns: z.strictObject({
    po: text,
    number: text.optional(),
    item: text.optional(),
    ordered: text.optional(),
    units: text.optional().describe('Units committed, or shipped'),
    name: text.optional(),
    zip: text.optional(),
    tracking: z.union([text, names]).optional(),
    carrier: text.optional(),
    method: text.optional(),
    day: text.optional(),
    reason: text.optional(),
  }),
})
const licenseCopies = z
  .strictObject({
    to: text.describe('The address that copies are mailed to, or {setting}'),
    businessDays: z.number().int().min(1).max(30).describe('Working days from the placement'),
  })
  .optional()
  .describe("The copy of a dealer's license that is wanted for an order; nothing is sent by itself")
const orders = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('file'),
    connection: text,
    path: text.describe('With {po} in it: the same name for every send of an order'),
    po: poLimits,
    templates,
    licenseCopies,
    answers: z.array(answer).optional(),
  }),
  z.strictObject({
    by: z.literal('mail'),
    to: text.describe('An address, or {setting}'),
    subject: text,
    attachment: text
      .optional()
      .describe('A name with {po} in it; without it the order is the text'),
    po: poLimits,
    templates,
    licenseCopies,
    answers: z.array(answer).optional(),
  }),
])

export const Document = z.strictObject({
  $schema: z.string().optional(),
  distid: z.string().regex(/^[A-Za-z0-9]{2,12}$/, 'must be 2 to 12 letters and digits'),
  name: text,
  writtenFrom: text.describe('What this document was written from'),
  settings: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be small letters, digits and _'),
      z.strictObject({
        label: text,
        help: text.optional(),
        secret: z.boolean().optional(),
        required: z.boolean().optional(),
      }),
    )
    .optional()
    .describe('What a shop enters in its configuration, under fulfillment'),
  connections: z.record(text, connection),
  feeds: z.array(z.discriminatedUnion('kind', [catalogFeed, quantityFeed, presetFeed])).optional(),
  orders: orders.optional(),
})

export type DistributorDocument = z.infer<typeof Document>
export type Connection = z.infer<typeof connection>
export type DocumentFeed = NonNullable<DistributorDocument['feeds']>[number]
export type DescribedFeed = Exclude<DocumentFeed, { kind: 'preset' }>
export type FileSource = z.infer<typeof source>
export type Reading = z.infer<typeof reading>
export type Orders = z.infer<typeof orders>
export type Template = z.infer<typeof template>
export type AnswerFile = z.infer<typeof answer>

/** JSON Schema of a document, for an editor. */
export const documentSchema = (): Record<string, unknown> =>
  z.toJSONSchema(Document, { io: 'input' }) as Record<string, unknown>
