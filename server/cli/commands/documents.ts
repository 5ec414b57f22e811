/** Distributors that are described by a document. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { audit } from '../../../lib/accounts/audit.js'
import { nameOf } from '../../../lib/app/nodes/findings.js'
import { listNodes } from '../../../lib/app/nodes/list.js'
import type { App } from '../../../lib/app/open.js'
import { invalid } from '../../../lib/core/errors.js'
import { figure } from '../../../lib/core/figures.js'
import { FeedFault } from '../../../lib/distributors/account-feed.js'
import { builtin, presets } from '../../../lib/distributors/builtin/index.js'
import { setMode } from '../../../lib/distributors/modes.js'
import { distributorOf } from '../../../lib/distributors/document/distributor.js'
import {
  OTHER_WAY,
  addDocument,
  orderingOf,
  removeDocument,
  tryDocument,
} from '../../../lib/distributors/document/kept/add.js'
import { documentFile } from '../../../lib/distributors/document/kept/folder.js'
import { faultText } from '../../../lib/distributors/document/kept/with-document.js'
import { readAnswers, withSample } from '../../../lib/distributors/document/samples.js'
import { readDocument } from '../../../lib/distributors/document/read.js'
import { documentSchema } from '../../../lib/distributors/document/schema.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import { TEMPLATES } from '../../../lib/distributors/document/templates.js'
import { checkFeed } from '../../../lib/feeds/check.js'
import { printable } from '../faults.js'
import { argument, DRY_RUN, optional, UsageError } from '../command.js'
import type { Command, Invocation } from '../command.js'
import type { Output } from '../output.js'
import { databaseFromEnvironment } from '../../env.js'
import { isInstallation, perform, withApp } from '../with-app.js'
import { recordLines } from './feeds/check.js'
import { showRejects } from './feeds/take.js'

const PRESETS = new Set(Object.keys(presets))
/** What comes with the program. */
const KNOWN = { distributors: builtin, presets }

/** A template that comes with the program, or the list of them. */
async function template({ args, out }: Invocation): Promise<void> {
  const [name] = args
  if (name === undefined) {
    const templates = Object.entries(TEMPLATES).map(
      ([key, { distid, name: called, writtenFrom }]) => ({
        template: key,
        distid,
        name: called,
        written_from: writtenFrom,
      }),
    )
    for (const one of templates) out.line(`${one.template} (${one.distid}): ${one.written_from}`)
    return out.result({ templates })
  }
  const found = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined
  if (!found)
    throw new UsageError(
      `there is no template "${name}"; known are ${Object.keys(TEMPLATES).join(', ')}`,
    )
  out.line(JSON.stringify(found, null, 2))
  out.result(found as unknown as Record<string, unknown>)
}

async function schema({ out }: Invocation): Promise<void> {
  out.line(JSON.stringify(documentSchema(), null, 2))
  out.result(documentSchema())
}

/** The document of a file; null where it has faults, which are told then, all at once. */
function documentIn(file: string, out: Output): DistributorDocument | null {
  if (!existsSync(file)) throw invalid('file', `cannot read ${file}`)
  const { document, faults } = readDocument(readFileSync(file, 'utf8'), PRESETS, builtin)
  if (document) return document
  out.line(`${file} cannot be used:`)
  for (const fault of faults) out.line(`  - ${faultText(fault)}`)
  out.result({ file, faults })
  return null
}

async function check({ args, values, dir, out }: Invocation): Promise<number> {
  const file = argument(args, 0)
  const document = documentIn(file, out)
  if (!document) return 1
  const sample = optional(values, 'sample')
  if (sample !== undefined) return checkSample(document, { sample, values, out })
  await tryHere(dir, document)
  const distributor = distributorOf(document)
  const feeds = Object.keys(distributor.feeds ?? {})
  const { orders } = document
  out.line(`${file} describes ${document.name} (${document.distid}).`)
  out.line(`Feeds: ${feeds.join(', ') || 'none'}. Orders: ${orders ? `by ${orders.by}` : 'none'}.`)
  if (orders)
    out.line(
      distributor.fulfillment!.recovery === 'file'
        ? 'An order whose answer is lost is found again by its acknowledgement.'
        : 'An order of which nobody knows whether it arrived is left to a person: no ' +
            'acknowledgement tells items, units and ZIP.',
    )
  out.result({ file, faults: [], distid: document.distid, feeds, orders: orders?.by ?? null })
  return 0
}

/** Throws where it cannot be added to the installation. */
async function tryHere(dir: string, document: DistributorDocument): Promise<void> {
  if (databaseFromEnvironment() === undefined) return tryDocument(dir, KNOWN, document)
  const { tryShared } = await import('../../../lib/distributors/document/kept/shared.js')
  await withApp(dir, ({ ctx }) => tryShared(ctx.read, KNOWN, ctx.engine.dir, document))
}

/** How a feed of the document reads a file: 20 rows of it, and what is rejected. */
async function checkSample(
  document: DistributorDocument,
  { sample: file, values, out }: Pick<Invocation, 'values' | 'out'> & { sample: string },
): Promise<number> {
  const described = document.feeds?.filter(({ kind }) => kind !== 'preset') ?? []
  const feed = optional(values, 'feed') ?? described[0]?.id ?? ''
  if (!existsSync(file)) throw invalid('sample', `cannot read ${file}`)
  const tells = optional(values, 'answer')
  if (tells !== undefined) return checkAnswers(document, { file, tells, out })
  const other = optional(values, 'other') ?? null
  const { unseen, ...checked } = await withSample(
    document,
    { feed, file, other },
    async (sample) => ({
      unseen: sample.unseen,
      ...(await checkFeed({ ...sample, rows: 20, asOf: Date.now() })),
    }),
  ).catch(asFault)
  for (const offer of checked.offers) out.line(recordLines(offer, out.width).join('\n'))
  if (checked.rejects.length > 0) showRejects(out, checked.rejects)
  const refused = [...checked.reasons, ...checked.refused]
  out.line('')
  out.line(
    `${figure(checked.rows)} rows read with ${feed}, ${figure(checked.rejected)} rejected.` +
      (refused.length > 0 ? ' Import would refuse it:' : ' Import would take it as a first feed.'),
  )
  for (const reason of refused) out.line(`- ${reason}`)
  if (unseen.length > 0)
    out.line(`The document names columns that the sample does not have: ${unseen.join(', ')}.`)
  out.result({ feed, ...checked, refused, unseen })
  return refused.length > 0 ? 1 : 0
}

const asFault = (error: unknown): never => {
  throw error instanceof FeedFault ? invalid('sample', error.message) : error
}

/** What the document reads in a file of answers. */
async function checkAnswers(
  document: DistributorDocument,
  { file, tells, out }: { file: string; tells: string; out: Output },
): Promise<number> {
  const answers = await readAnswers(document, { tells, file, now: Date.now() }).catch(asFault)
  out.table(
    answers.map(({ po, number, content, isShort, isNothing, parcels, reason }) => ({
      po: printable(po),
      number: printable(number ?? '-'),
      items: content
        ? content.lines.map(({ distsku, qty }) => printable(`${qty} x ${distsku}`)).join(', ')
        : 'not told',
      zip: printable(content?.shipTo.zip ?? '-'),
      committed: isNothing ? 'nothing' : isShort ? 'a part' : '-',
      parcels: parcels.map(({ trackingNumber }) => trackingNumber).join(', ') || '-',
      reason: printable(reason ?? '-'),
    })),
  )
  out.line(`${figure(answers.length)} orders are told of.`)
  out.result({ tells, answers })
  return answers.length > 0 ? 0 : 1
}

async function add({ args, dir, out, dryRun }: Invocation): Promise<number> {
  const document = documentIn(argument(args, 0), out)
  if (!document) return 1
  const { distid, name } = document
  if (databaseFromEnvironment() !== undefined) return addToNodes(document, { dir, out, dryRun })
  if (dryRun) {
    tryDocument(dir, KNOWN, document)
    out.line(`It would add ${name} (${distid}) as ${documentFile(dir, distid)}.`)
    out.line(DRY_RUN)
    out.result({ distid, dry_run: true })
    return 0
  }
  if (!isInstallation(dir)) throw new Error(`no installation in ${dir}; run \`quartermaster init\``)
  const before = storedDocument(dir, distid)
  const { file, isNew } = addDocument(dir, KNOWN, document)
  // Opening the folder tries it as the next start will.
  const wasLive = await withApp(dir, async ({ ctx }) => {
    await audit(ctx, 'distributors.document', { distid, added: true, sha256: digestOf(document) })
    const isAgreed = before !== null && orderingOf(before) === orderingOf(document)
    if (isAgreed || ctx.modes.of(distid) !== 'live') return false
    await setMode(ctx, { distid, mode: 'simulator', reason: OTHER_WAY })
    return true
  })
  out.line(
    `${name} (${distid}) is ${isNew ? 'added' : 'replaced'}: ${file}. A server that runs knows it ` +
      'after its next start.',
  )
  if (wasLive) out.line(liveAgain(distid))
  out.result({ distid, file, new: isNew, dry_run: false, was_live: wasLive })
  return 0
}

const liveAgain = (distid: string): string =>
  `It was live, and where or how its orders are sent has changed: none is placed until ` +
  `\`distributors live ${distid}\` says so again.`

/** Adds it to the database that nodes share. */
async function addToNodes(
  document: DistributorDocument,
  { dir, out, dryRun }: Pick<Invocation, 'dir' | 'out' | 'dryRun'>,
): Promise<number> {
  const { addShared } = await import('../../../lib/distributors/document/kept/shared.js')
  const { distid, name } = document
  await withApp(dir, async (app) => {
    const { isNew, wasLive } = await perform(app, dryRun, (ctx) => addShared(ctx, KNOWN, document))
    const what = isNew ? 'added' : 'replaced'
    out.line(`${name} (${distid}) ${dryRun ? 'would be' : 'is'} ${what} in the database.`)
    if (dryRun) out.line(DRY_RUN)
    else await tellNodes(app, out)
    if (wasLive) out.line(liveAgain(distid))
    out.result({ distid, file: null, new: isNew, dry_run: dryRun, was_live: wasLive })
  })
  return 0
}

/** Which nodes have to start again before they know what has changed. */
async function tellNodes({ ctx }: App, out: Output): Promise<void> {
  const { nodes } = await listNodes(ctx)
  const old = nodes.filter(({ isGone, lacks }) => !isGone && lacks.length > 0)
  if (old.length === 0) return out.line('Nodes know it from their next start on.')
  out.line(
    'A node knows it after its next start. Start these again, one after the other: ' +
      `${old.map(nameOf).join(', ')}. \`quartermaster nodes\` tells which do not know it yet.`,
  )
}

/** The document that is in force; null where there is none, or it cannot be read. */
function storedDocument(dir: string, distid: string): DistributorDocument | null {
  const file = documentFile(dir, distid)
  return existsSync(file)
    ? readDocument(readFileSync(file, 'utf8'), PRESETS, builtin).document
    : null
}

async function remove({ args, dir, out, dryRun }: Invocation): Promise<void> {
  const distid = argument(args, 0)
  if (databaseFromEnvironment() !== undefined) return removeFromNodes(distid, { dir, out, dryRun })
  const file = dryRun ? documentFile(dir, distid) : removeDocument(dir, distid)
  if (!dryRun)
    await withApp(dir, ({ ctx }) => audit(ctx, 'distributors.document', { distid, added: false }))
  out.line(
    `${distid} ${dryRun ? 'would be' : 'is'} removed: ${file}. Entries of it in configurations are ` +
      'refused from the next start on, and its open orders are heard of no more.',
  )
  if (dryRun) out.line(DRY_RUN)
  out.result({ distid, file, dry_run: dryRun })
}

async function removeFromNodes(
  distid: string,
  { dir, out, dryRun }: Pick<Invocation, 'dir' | 'out' | 'dryRun'>,
): Promise<void> {
  const { dropShared } = await import('../../../lib/distributors/document/kept/shared.js')
  await withApp(dir, async (app) => {
    await perform(app, dryRun, (ctx) => dropShared(ctx, distid))
    out.line(
      `${distid} ${dryRun ? 'would be' : 'is'} removed from the database. Entries of it in ` +
        'configurations are refused from the next start of each node on, and its open orders are ' +
        'heard of no more.',
    )
    if (dryRun) out.line(DRY_RUN)
    else await tellNodes(app, out)
    out.result({ distid, file: null, dry_run: dryRun })
  })
}

const digestOf = (document: DistributorDocument): string =>
  createHash('sha256').update(JSON.stringify(document)).digest('hex')

const FILE = { '<FILE>': 'the document, JSON; `distributors template` shows some to begin with' }

export const documentCommands: Command[] = [
  {
    name: 'distributors template',
    summary: 'Documents to begin with, and what each was written from',
    effect: 'reads',
    positionals: ['[NAME]'],
    help: { '[NAME]': 'which one to print; without it, the list' },
    example: 'quartermaster distributors template mge',
    run: template,
  },
  {
    name: 'distributors schema',
    summary: 'JSON Schema of such a document, for your editor',
    effect: 'reads',
    example: 'quartermaster distributors schema',
    run: schema,
  },
  {
    name: 'distributors check',
    summary: 'Every fault of a document at once; with a sample, how its feed reads that',
    effect: 'reads',
    positionals: ['<FILE>'],
    options: {
      sample: { type: 'string' },
      feed: { type: 'string' },
      other: { type: 'string' },
      answer: { type: 'string' },
    },
    help: {
      ...FILE,
      sample: 'a file of the distributor: 20 rows of it are shown',
      feed: 'which feed of the document reads it; the first by default',
      other: 'a sample of the file that the feed is joined with',
      answer: 'the sample is an acknowledgement, a shipment or a problem: what is read of it',
    },
    example: 'quartermaster distributors check ./acme.json --sample ./inventory.csv',
    run: check,
  },
  {
    name: 'distributors add',
    summary: 'Add a distributor by its document',
    effect: 'writes',
    positionals: ['<FILE>'],
    help: FILE,
    example: 'quartermaster distributors add ./acme.json',
    run: add,
  },
  {
    name: 'distributors remove',
    summary: 'Take a document away',
    effect: 'writes',
    positionals: ['<DISTID>'],
    help: { '<DISTID>': 'the distid of the document' },
    example: 'quartermaster distributors remove ACME',
    run: remove,
  },
]
