/** Saving a document, and what that does to the live catalog. */
import { figure } from '../../../../lib/core/figures.js'
import type { Subscriber } from '../../../../lib/accounts/caller.js'
import { checkCredentials } from '../../../../lib/configuration/credentials.js'
import type { CredentialResult } from '../../../../lib/configuration/credentials.js'
import { previewRollBack, rollBack } from '../../../../lib/configuration/history.js'
import { exceedsThreshold } from '../../../../lib/configuration/impact.js'
import type { Impact, Offers } from '../../../../lib/configuration/impact.js'
import { previewConfiguration, putConfiguration } from '../../../../lib/configuration/put.js'
import type { Preview } from '../../../../lib/configuration/put.js'
import { ApiError } from '../../../../lib/core/errors.js'
import type { App } from '../../../../lib/app/open.js'
import { argument, optional } from '../../command.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { readCandidate, subscriberOf } from './subscriber.js'
import { versionOf } from './versions.js'
import type { Output } from '../../output.js'

export async function put(invocation: Invocation): Promise<void> {
  const { args, values } = invocation
  const file = argument(args, 0)
  const number = optional(values, 'if-version')
  const over = number === undefined ? undefined : versionOf(number, '--if-version')
  await withApp(invocation.dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const document = await readCandidate(file)
    const input = {
      document,
      validate: values['validate'] === true,
      ...(over !== undefined && { ifMatch: await tagOf(app, subscriber, over) }),
    }
    await save(invocation, app, {
      subscriber,
      preview: () => previewConfiguration(app.ctx, subscriber, input),
      save: () => putConfiguration(app.ctx, subscriber, input),
    })
  })
}

async function tagOf({ ctx }: App, subscriber: Subscriber, version: number): Promise<string> {
  const saved = await ctx.configurations.of(subscriber)
  if (saved.version !== version)
    throw new ApiError('precondition_failed', {
      message: `version ${saved.version} is saved, not version ${version}; read it again`,
    })
  return saved.etag
}

export async function goBack(invocation: Invocation): Promise<void> {
  const { args, values } = invocation
  const number = argument(args, 0)
  const version = versionOf(number, '<VERSION>')
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
export async function save(
  { out, dryRun }: Invocation,
  app: App,
  { subscriber, preview, save: act }: Save,
): Promise<void> {
  const { impact, offers, checking } = await preview()
  if (dryRun) {
    out.line(`The document of ${subscriber.name} would be saved.`)
    showImpact(out, impact, offers)
    if (checking.length > 0)
      out.line(`These would be asked about the new credentials: ${checking.join(', ')}.`)
    return out.result({ subscriber: subscriber.name, impact, offers, checking, dry_run: true })
  }
  const { version } = await act()
  out.line(`Version ${version} of the configuration of ${subscriber.name} is saved.`)
  showImpact(out, impact, offers)
  const credentials = await awaitChecks(out, app, subscriber, checking)
  out.result({ subscriber: subscriber.name, version, impact, offers, credentials })
}

/** Joins the checks that the save began. */
async function awaitChecks(
  out: Output,
  { ctx }: App,
  subscriber: Subscriber,
  checking: readonly string[],
): Promise<CredentialResult[]> {
  const { document } = await ctx.configurations.of(subscriber)
  // Another process may have saved since.
  const names = checking.filter((name) => Object.hasOwn(document.distributors, name))
  if (names.length === 0) return []
  out.line(`Asking ${names.join(', ')} about the new credentials...`)
  const credentials = await checkCredentials(ctx, subscriber, names)
  showCredentials(out, credentials)
  return credentials
}

export function showCredentials(out: Output, credentials: readonly CredentialResult[]): void {
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

function showImpact(out: Output, impact: Impact, offers: Offers): void {
  const { deleted, live, deleted_percent: lost, threshold_percent: threshold } = impact
  const percent = (share: number) => `${Math.round(share * 10_000) / 100} %`
  out.line(
    live === 0
      ? `Live catalog: empty before it, ${figure(offers.after)} offers are listed after it.`
      : `Live catalog: ${figure(deleted)} of ${figure(live)} offers go (${percent(lost)}), ` +
          `${figure(offers.after)} are listed after it.`,
  )
  if (exceedsThreshold(impact))
    out.line(
      `Warning: that is more than the delete threshold of ${percent(threshold)} allows; ` +
        '--validate refuses it.',
    )
  if (offers.by_distributor.length > 0)
    out.table(
      offers.by_distributor.map((row) => ({
        ...row,
        deleted: impact.by_distributor.find(({ distid }) => distid === row.distid)?.deleted ?? 0,
      })),
    )
}
