import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { figure } from '../../../../lib/core/figures.js'
import {
  MAX_DOCUMENT,
  documentType,
  findDocument,
  removeDocument,
  storeDocument,
} from '../../../../lib/ffls/documents.js'
import type { DocumentInput } from '../../../../lib/ffls/documents.js'
import { findDealer } from '../../../../lib/ffls/find.js'
import type { App } from '../../../../lib/app/open.js'
import { argument, UsageError } from '../../command.js'
import type { Command, Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { carriesOut } from '../../operation-help.js'
import { fflOperations } from '../../../../lib/ffls/operations.js'

/** The file, unless it is larger than any document may be. */
function readDocumentFile(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Error(`${path} is not a file`)
    if (found.size > MAX_DOCUMENT)
      throw new Error(
        `${path} has ${figure(found.size)} bytes; a document has at most 10 MB ` +
          `(${figure(MAX_DOCUMENT)} bytes)`,
      )
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

async function store(
  { ctx }: App,
  input: DocumentInput & { bytes: Buffer },
  { dryRun, out }: Invocation,
): Promise<void> {
  // A file is no part of a transaction that could be undone, so a dry run checks and stops.
  const done = dryRun
    ? {
        content_type: documentType(input.bytes),
        license_number: (await findDealer(ctx, input.license_number)).license_number,
        dry_run: true,
      }
    : await storeDocument(ctx, input)
  const size = input.bytes.length
  out.line(
    `${dryRun ? 'Would store' : 'Stored'} the ${input.document_type.toUpperCase()} ` +
      `document of ${done.license_number} (${done.content_type}, ${figure(size)} bytes).`,
  )
  out.result({ ...done, document_type: input.document_type, bytes: size })
}

async function remove(
  { ctx }: App,
  input: DocumentInput,
  { dryRun, out }: Invocation,
): Promise<void> {
  const { license_number } = await (dryRun ? findDocument : removeDocument)(ctx, input)
  out.line(
    `${dryRun ? 'Would remove' : 'Removed'} the ${input.document_type.toUpperCase()} ` +
      `document of ${license_number}.`,
  )
  out.result({
    license_number,
    document_type: input.document_type,
    removed: !dryRun,
    ...(dryRun && { dry_run: true }),
  })
}

async function run(invocation: Invocation): Promise<void> {
  const {
    dir,
    values,
    args: [, kind, file],
  } = invocation
  if (kind !== 'ffl' && kind !== 'sot')
    throw new UsageError(`"${kind}" is not a kind of document: write ffl or sot`)
  const license = argument(invocation.args, 0)
  const input = { license_number: license, document_type: kind } as const
  if (values['remove'] === true) {
    if (file !== undefined) throw new UsageError('--remove takes no file')
    return withApp(dir, (app) => remove(app, input, invocation))
  }
  if (file === undefined)
    throw new UsageError('[FILE] is missing; --remove removes the document that is there')
  const bytes = readDocumentFile(file)
  return withApp(dir, (app) => store(app, { ...input, bytes }, invocation))
}

export const fflDocumentCommands: Command[] = [
  carriesOut(fflOperations, 'ffls.storeDocument', {
    name: 'ffls document',
    effect: 'writes',
    positionals: ['<LICENSE>', '<KIND>', '[FILE]'],
    options: { remove: { type: 'boolean' } },
    acts: { remove: 'ffls.removeDocument' },
    help: { '[FILE]': 'PDF, JPEG or PNG, at most 10 MB' },
    example: 'quartermaster ffls document 1-62-037-01-8E-90211 ffl ./license.pdf',
    run,
  }),
]
