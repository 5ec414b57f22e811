/** A subscriber's configuration document: read, save, check, compare, go back. */
import { isObject } from '../../../lib/core/json.js'
import { writeFileSync } from 'node:fs'
import { findSubscriber, listSubscribers } from '../../../lib/accounts/subscribers.js'
import type { Subscriber } from '../../../lib/accounts/caller.js'
import { checkCredentials } from '../../../lib/configuration/credentials.js'
import type { CredentialResult } from '../../../lib/configuration/credentials.js'
import { unwrap } from '../../../lib/configuration/endpoints.js'
import {
  configurationHistory,
  diffVersions,
  previewRollBack,
  readVersion,
  rollBack,
} from '../../../lib/configuration/history.js'
import type { Difference } from '../../../lib/configuration/history.js'
import { exceedsThreshold } from '../../../lib/configuration/impact.js'
import type { Impact } from '../../../lib/configuration/impact.js'
import { previewConfiguration, putConfiguration } from '../../../lib/configuration/put.js'
import type { Preview } from '../../../lib/configuration/put.js'
import { readConfiguration } from '../../../lib/configuration/saved.js'
import { MASK } from '../../../lib/configuration/secrets.js'
import { validateCandidate, validateSaved } from '../../../lib/configuration/validate.js'
import { ApiError, invalid } from '../../../lib/core/errors.js'
import type { Fault } from '../../../lib/core/errors.js'
import type { App } from '../../../lib/app/open.js'
import { UsageError, optional } from '../command.js'
import type { Command, Invocation, Output } from '../command.js'
import { readJsonFile } from '../json-file.js'
import { withApp } from '../with-app.js'

export const SUBSCRIBER = {
  options: { subscriber: { type: 'string' } },
  help: { subscriber: 'name or id of the shop; needed when there are several' },
} as const

/** The shop that --subscriber names, or the only one. */
export async function subscriberOf(
  { ctx }: App,
  values: Invocation['values'],
): Promise<Subscriber> {
  const named = optional(values, 'subscriber')
  if (named !== undefined) return findSubscriber(ctx, named)
  const all = await listSubscribers(ctx)
  if (all.length === 0)
    throw new ApiError('not_found', {
      message: 'there is no subscriber yet; `subscribers create` registers one',
    })
  if (all.length > 1)
    throw new UsageError(
      `which subscriber? Name one with --subscriber: ${all.map(({ name, id }) => `"${name}" (${id})`).join(', ')}`,
    )
  return findSubscriber(ctx, all[0]!.id)
}

/** Faults as lines for people. */
export function faultLines(faults: readonly Fault[]): string[] {
  return faults.map(({ path, message }) => printable(path === '' ? message : `${path}: ${message}`))
}

export function isFault(value: unknown): value is Fault {
  return (
    typeof value === 'object' &&
    value !== null &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  )
}

/** Text of a document or a feed, without what a terminal would act on. */
export function printable(text: string): string {
  return text.replace(
    /\p{Cc}/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function versionOf(text: string, name: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`${name} must be the number of a version; \`config history\` lists them`)
  return Number(text)
}

/** A candidate, as `PUT /v1/config` takes it. */
async function readCandidate(file: string): Promise<unknown> {
  const document = await readJsonFile(file)
  return isObject(document) ? unwrap(document) : document
}

async function get(invocation: Invocation): Promise<void> {
  const { values, out, dryRun } = invocation
  const [number, file] = [optional(values, 'version'), optional(values, 'out')]
  const wanted = number === undefined ? undefined : versionOf(number, '--version')
  await withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const earlier =
      wanted === undefined ? undefined : await readVersion(app.ctx, subscriber, wanted)
    const saved = app.ctx.configurations.of(subscriber)
    const version = wanted ?? saved.version
    const configuration = earlier ?? readConfiguration(app.ctx, subscriber)
    const text = JSON.stringify(configuration, null, 2)
    if (file !== undefined && !dryRun) writeOut(file, `${text}\n`)
    out.line(
      file === undefined
        ? text
        : `Version ${version} ${dryRun ? 'would be' : 'is'} written to ${file}.`,
    )
    // Of an earlier version there is no tag to save over.
    out.result({
      subscriber: subscriber.name,
      version,
      etag: version === saved.version ? saved.etag : null,
      configuration,
      ...(file !== undefined && { file }),
      ...(dryRun && { dry_run: true }),
    })
  })
}

function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    throw invalid('out', `cannot write ${file} (${(error as NodeJS.ErrnoException).code})`)
  }
}

async function put(invocation: Invocation): Promise<void> {
  const {
    args: [file],
    values,
  } = invocation
  const number = optional(values, 'if-version')
  const over = number === undefined ? undefined : versionOf(number, '--if-version')
  await withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const document = await readCandidate(file!)
    const input = {
      document,
      validate: values['validate'] === true,
      ...(over !== undefined && { ifMatch: tagOf(app, subscriber, over) }),
    }
    await save(invocation, app, {
      subscriber,
      preview: () => previewConfiguration(app.ctx, subscriber, input),
      save: () => putConfiguration(app.ctx, subscriber, input),
    })
  })
}

function tagOf({ ctx }: App, subscriber: Subscriber, version: number): string {
  const saved = ctx.configurations.of(subscriber)
  if (saved.version !== version)
    throw new ApiError('precondition_failed', {
      message: `version ${saved.version} is saved, not version ${version}; read it again`,
    })
  return saved.etag
}

async function goBack(invocation: Invocation): Promise<void> {
  const {
    args: [number],
    values,
  } = invocation
  const version = versionOf(number!, '<VERSION>')
  const options = { validate: values['validate'] === true }
  await withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    await save(invocation, app, {
      subscriber,
      preview: () => previewRollBack(app.ctx, subscriber, version, options),
      save: () => rollBack(app.ctx, subscriber, version, options),
    })
  })
}

interface Save {
  subscriber: Subscriber
  preview(): Promise<Preview>
  save(): Promise<{ version: number }>
}

/**
 * Saves, tells what it does to the live catalog, and waits for the checks of new credentials: the
 * end of the process would cut them off.
 */
async function save(
  { out, dryRun }: Invocation,
  app: App,
  { subscriber, preview, save: act }: Save,
): Promise<void> {
  const { impact, checking } = await preview()
  if (dryRun) {
    out.line(`The document of ${subscriber.name} would be saved.`)
    showImpact(out, impact)
    if (checking.length > 0)
      out.line(`To be asked about the new credentials: ${checking.join(', ')}.`)
    return out.result({ subscriber: subscriber.name, impact, checking, dry_run: true })
  }
  const { version } = await act()
  out.line(`Version ${version} of the configuration of ${subscriber.name} is saved.`)
  showImpact(out, impact)
  const credentials = await awaitChecks(out, app, subscriber, checking)
  out.result({ subscriber: subscriber.name, version, impact, credentials })
}

/** Joins the checks that the save began. */
async function awaitChecks(
  out: Output,
  { ctx }: App,
  subscriber: Subscriber,
  checking: readonly string[],
): Promise<CredentialResult[]> {
  const { document } = ctx.configurations.of(subscriber)
  // Another process may have saved since.
  const names = checking.filter((name) => Object.hasOwn(document.distributors, name))
  if (names.length === 0) return []
  out.line(`Asking ${names.join(', ')} about the new credentials...`)
  const credentials = await checkCredentials(ctx, subscriber, names)
  showCredentials(out, credentials)
  return credentials
}

function showCredentials(out: Output, credentials: readonly CredentialResult[]): void {
  const words = (valid: boolean | null) =>
    valid === null ? 'not reached' : valid ? 'valid' : 'refused'
  out.table(
    credentials.map(({ distid, distributor, valid }) => ({
      distid,
      distributor,
      credentials: words(valid),
    })),
  )
}

function showImpact(out: Output, impact: Impact): void {
  const {
    deleted,
    live,
    deleted_percent: lost,
    threshold_percent: threshold,
    by_distributor: distributors,
  } = impact
  const percent = (share: number) => `${Math.round(share * 10_000) / 100} %`
  if (live === 0) return out.line('Live catalog: empty before it, so nothing can be lost.')
  const allowed = exceedsThreshold(impact)
    ? `, more than the delete threshold of ${percent(threshold)} allows: --validate refuses that`
    : ''
  out.line(
    `Live catalog: ${deleted.toLocaleString('en-US')} of ${live.toLocaleString('en-US')} offers go (${percent(lost)})${allowed}.`,
  )
  if (deleted > 0)
    out.table(
      distributors.map(({ deleted_percent: share, ...row }) => ({ ...row, share: percent(share) })),
    )
}

async function validate(invocation: Invocation): Promise<number> {
  const {
    args: [file],
    values,
    out,
  } = invocation
  return withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    return file === undefined
      ? checkSaved(invocation, app, subscriber)
      : checkFile(out, app, subscriber, await readCandidate(file))
  })
}

function checkFile(out: Output, { ctx }: App, subscriber: Subscriber, candidate: unknown): number {
  const report = validateCandidate(ctx, subscriber, candidate)
  for (const line of faultLines(report.errors)) out.line(line)
  out.line(
    report.schema_valid ? 'The document fits the schema.' : 'The document does not fit the schema.',
  )
  out.result({ subscriber: subscriber.name, ...report })
  return report.schema_valid ? 0 : 1
}

async function checkSaved(
  { out, dryRun }: Invocation,
  { ctx }: App,
  subscriber: Subscriber,
): Promise<number> {
  const report = await validateSaved(ctx, subscriber, { record: !dryRun })
  if (report.credentials.length > 0) showCredentials(out, report.credentials)
  for (const line of faultLines(report.schema_errors)) out.line(line)
  for (const warning of report.warnings) out.line(printable(`Warning: ${warning}`))
  out.line(
    `The configuration of ${subscriber.name} is ${report.valid ? 'valid' : 'not valid'}${report.active_distributors.length === 0 ? ', but no distributor is active' : ''}.`,
  )
  if (dryRun) out.line('This was a dry run: what the distributors said was not recorded.')
  out.result({ subscriber: subscriber.name, ...report, ...(dryRun && { dry_run: true }) })
  return report.valid ? 0 : 1
}

async function diff({ dir, args, values, out }: Invocation): Promise<void> {
  const [from, to] = args.map((text, i) => versionOf(text, i === 0 ? '[FROM]' : '[TO]'))
  await withApp(dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const pair = await versionsToCompare(app, subscriber, from, to)
    const differences = await diffVersions(app.ctx, subscriber, pair.from, pair.to)
    out.line(
      differences.length > 0
        ? differences.map(diffLine).join('\n')
        : `Versions ${pair.from} and ${pair.to} do not differ.`,
    )
    out.result({ subscriber: subscriber.name, ...pair, differences })
  })
}

/** The last but one and the last, where none is named. */
async function versionsToCompare(
  { ctx }: App,
  subscriber: Subscriber,
  from: number | undefined,
  to: number | undefined,
): Promise<{ from: number; to: number }> {
  if (from !== undefined && to !== undefined) return { from, to }
  const [last, previous] = await configurationHistory(ctx, subscriber)
  if (!last)
    throw new ApiError('not_found', {
      message: `${subscriber.name} has no saved configuration yet; \`config put\` saves one`,
    })
  if (from === undefined && !previous)
    throw new ApiError('not_found', {
      message: `${subscriber.name} has version ${last.version} of its configuration only; there is nothing to compare it with`,
    })
  return { from: from ?? previous!.version, to: last.version }
}

function diffLine({ path, change, before, after }: Difference): string {
  const text = (value: unknown) => (value === MASK ? MASK : JSON.stringify(value))
  const place = path === '' ? '(document)' : path
  if (change === 'changed') return printable(`~ ${place}: ${text(before)} -> ${text(after)}`)
  return printable(
    change === 'added' ? `+ ${place}: ${text(after)}` : `- ${place}: ${text(before)}`,
  )
}

const VALIDATE = {
  validate: 'refuse when more of the live catalog would go than the delete threshold allows',
}

export const configurationCommands: Command[] = [
  {
    name: 'config get',
    summary: 'The configuration document, its credentials masked',
    effect: 'writes',
    options: { ...SUBSCRIBER.options, version: { type: 'string' }, out: { type: 'string' } },
    help: {
      ...SUBSCRIBER.help,
      version: 'number of an earlier version; the saved one by default',
      out: 'file to write it to, for `config put`',
    },
    example: 'quartermaster config get --out config.json',
    run: get,
  },
  {
    name: 'config put',
    summary: 'Check a document and save it in place of the saved one',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...SUBSCRIBER.options,
      validate: { type: 'boolean' },
      'if-version': { type: 'string' },
    },
    help: {
      ...SUBSCRIBER.help,
      '<FILE>':
        'the whole document as JSON; - reads standard input; asterisks keep a stored credential',
      ...VALIDATE,
      'if-version': 'refuse unless this version is the saved one',
    },
    example: 'quartermaster config put config.json --validate --if-version 3',
    run: put,
  },
  {
    name: 'config validate',
    summary: 'Check the saved document and its credentials, or a file against the schema',
    effect: 'writes',
    positionals: ['[FILE]'],
    ...SUBSCRIBER,
    help: {
      ...SUBSCRIBER.help,
      '[FILE]':
        'a document that is not saved; - reads standard input; the saved one, with live checks of its credentials, by default',
    },
    example: 'quartermaster config validate',
    run: validate,
  },
  {
    name: 'config history',
    summary: 'Every save of the document: when and by whom',
    effect: 'reads',
    ...SUBSCRIBER,
    example: 'quartermaster config history',
    run: ({ dir, values, out }) =>
      withApp(dir, async (app) => {
        const subscriber = await subscriberOf(app, values)
        const versions = await configurationHistory(app.ctx, subscriber)
        out.table(versions.map((row) => ({ ...row })))
        out.result({ subscriber: subscriber.name, versions })
      }),
  },
  {
    name: 'config diff',
    summary: 'What changed from one version of the document to another; credentials stay masked',
    effect: 'reads',
    positionals: ['[FROM]', '[TO]'],
    ...SUBSCRIBER,
    help: {
      ...SUBSCRIBER.help,
      '[FROM]': 'a version, the last but one by default',
      '[TO]': 'a version, the last by default',
    },
    example: 'quartermaster config diff 3 5',
    run: diff,
  },
  {
    name: 'config rollback',
    summary: 'Save an earlier version anew, its credentials with it',
    effect: 'writes',
    positionals: ['<VERSION>'],
    options: { ...SUBSCRIBER.options, validate: { type: 'boolean' } },
    help: { ...SUBSCRIBER.help, '<VERSION>': '`config history` lists them', ...VALIDATE },
    example: 'quartermaster config rollback 3',
    run: goBack,
  },
]
