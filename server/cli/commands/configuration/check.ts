/** Checking what is saved, or a file. */
import type { Subscriber } from '../../../../lib/accounts/caller.js'
import { validateCandidate, validateSaved } from '../../../../lib/configuration/validate.js'
import type { App } from '../../../../lib/app/open.js'
import type { Invocation } from '../../command.js'
import { withApp } from '../../with-app.js'
import { readCandidate, subscriberOf } from './subscriber.js'
import { faultLines, printable } from '../../faults.js'
import { showCredentials } from './save.js'
import type { Output } from '../../output.js'

export async function validate(invocation: Invocation): Promise<number> {
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

async function checkFile(
  out: Output,
  { ctx }: App,
  subscriber: Subscriber,
  candidate: unknown,
): Promise<number> {
  const report = await validateCandidate(ctx, subscriber, candidate)
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
    `The configuration of ${subscriber.name} is ` +
      `${report.valid ? 'valid' : 'not valid'}` +
      `${report.active_distributors.length === 0 ? ', but no distributor is active' : ''}.`,
  )
  if (dryRun) out.line('This was a dry run: what the distributors said was not recorded.')
  out.result({ subscriber: subscriber.name, ...report, ...(dryRun && { dry_run: true }) })
  return report.valid ? 0 : 1
}
