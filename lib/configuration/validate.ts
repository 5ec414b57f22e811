/**
 * What is wrong with a configuration, or odd about it (contract "Configuration": `POST
 * /v1/config/validate`).
 */
import type { Subscriber } from '../accounts/caller.js'
import { oddMaps, oddMapsWarning } from '../catalog/view/doubtful-maps.js'
import { ruleWarnings } from '../catalog/warnings/rule-warnings.js'
import type { ConfigurationCtx } from './ctx.js'
import { dotted } from '../core/pointer.js'
import { checkOf, settingPointer, unsetSettings } from '../distributors/distributor.js'
import type { Distributor } from '../distributors/distributor.js'
import { checkCredentials } from './credentials.js'
import type { CheckOptions, CredentialResult } from './credentials.js'
import type { ConfigurationDocument } from './document/document.js'
import { checkCandidate } from './put.js'
import { entryDistributor, openSaved } from './secrets.js'
import type { DryRun, ValidationReport } from './shapes.js'
import { entryNamed } from './document/document.js'

/** A candidate, checked against the schema alone; nothing is saved and nobody asked. */
export async function validateCandidate(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  candidate: unknown,
): Promise<DryRun> {
  const { faults } = checkCandidate(
    ctx,
    openSaved(ctx, subscriber, await ctx.configurations.of(subscriber)),
    candidate,
  )
  return { dry_run: true, schema_valid: faults.length === 0, errors: faults }
}

/**
 * The saved document: schema, unset fields, live credentials of each active distributor, and what
 * its rules do to the live catalog.
 */
export async function validateSaved(
  ctx: ConfigurationCtx,
  subscriber: Subscriber,
  options: CheckOptions = {},
): Promise<ValidationReport> {
  const saved = await ctx.configurations.of(subscriber)
  const document = openSaved(ctx, subscriber, saved)
  const faults = ctx.configurations.check(document)
  const unset = unsetFields(ctx, document, saved.active)
  const credentials = await checkCredentials(ctx, subscriber, saved.active, options)
  return {
    valid:
      faults.length === 0 &&
      unset.length === 0 &&
      credentials.every(({ valid }) => valid !== false),
    schema_errors: faults,
    configured_distributors: Object.keys(document.distributors),
    active_distributors: [...saved.active],
    credentials,
    warnings: [
      ...(saved.active.length === 0 && Object.keys(document.distributors).length > 0
        ? ['no distributor is active: nothing is served']
        : []),
      ...unset,
      ...credentialWarnings(ctx, credentials, document),
      ...(await catalogWarnings(ctx, subscriber)),
      ...(await mapWarnings(ctx, subscriber)),
    ],
  }
}

/** Required settings of active distributors that have no value, by their labels. */
function unsetFields(
  ctx: ConfigurationCtx,
  document: ConfigurationDocument,
  active: readonly string[],
): string[] {
  return active.flatMap((name) => {
    const entry = entryNamed(document, name)
    const distributor = entryDistributor(name, entry, ctx.distributors)
    return distributor
      ? unsetSettings(distributor, entry).map(({ label, path }) => {
          return (
            `\`${dotted(settingPointer(name, path))}\` is not set: "${label}" is required while ` +
            `${name} is active`
          )
        })
      : []
  })
}

function credentialWarnings(
  ctx: ConfigurationCtx,
  credentials: readonly CredentialResult[],
  document: ConfigurationDocument,
): string[] {
  return credentials.flatMap(({ distributor: name, valid }) => {
    const distributor = entryDistributor(name, document.distributors[name], ctx.distributors)
    if (valid === null)
      return [
        `${name} could not be reached, so its credentials were not checked; an earlier result ` +
          'stays',
      ]
    const mode = distributor ? ctx.modes.of(distributor.distid) : 'simulator'
    if (valid === false && distributor?.simulated && mode === 'simulator')
      return [
        `${name} is played by a simulator, which takes the demo's credentials only` +
          `${takenBySimulator(distributor)}; nothing was sent to the real ${name}`,
      ]
    if (valid === false) return [`${name} refused the credentials`]
    const hasCredentials = Object.values(distributor?.settings ?? {}).some(({ secret }) => secret)
    return hasCredentials && !(distributor && checkOf(distributor, mode))
      ? [`${name} has no known interface to check credentials with; they were taken as they are`]
      : []
  })
}

/** Where the simulator's credentials stand in the entry, and what they are. */
function takenBySimulator({ settings, simulatorTakes = {} }: Distributor): string {
  const taken = Object.entries(simulatorTakes).flatMap(([setting, value]) => {
    const { path, required } = settings[setting] ?? {}
    return path && required ? [`\`${path.replaceAll('-', '.')}\` ${value}`] : []
  })
  return taken.length > 0 ? `: ${taken.join(', ')}` : ''
}

/** Warnings about rules, once there is a catalog to try them on. */
async function catalogWarnings(ctx: ConfigurationCtx, subscriber: Subscriber): Promise<string[]> {
  await ctx.catalog.refresh()
  const snapshot = ctx.catalog.current()
  if (!snapshot) return []
  const { document, eligible } = await ctx.configurations.of(subscriber)
  return ruleWarnings(snapshot, {
    subscriberId: subscriber.id,
    document,
    eligible,
    ignoreRestrictions: false,
  }).map(({ message }) => message)
}

/** Feeds that this subscriber's offers come from and whose MAPs are mostly none. */
async function mapWarnings(ctx: ConfigurationCtx, subscriber: Subscriber): Promise<string[]> {
  const { document, active } = await ctx.configurations.of(subscriber)
  const distids = new Set([...active].map((name) => entryNamed(document, name).distid))
  return oddMaps(ctx.engine.catalog)
    .filter(
      ({ distid, subscriberId }) =>
        distids.has(distid) && (subscriberId === null || subscriberId === subscriber.id),
    )
    .map(oddMapsWarning)
}
