/** What the operator does with the configuration of one subscriber, and what it leads to. */
import type { Subscriber } from '../accounts/caller.js'
import { checkCredentials, recordCredentialCheck } from './credentials.js'
import type { ConfigurationCtx } from './ctx.js'
import { explainProduct } from './explain.js'
import { goLive, planGoLive } from './go-live.js'
import {
  configurationHistory,
  diffVersions,
  previewRollBack,
  readVersion,
  rollBack,
} from './history.js'
import { previewChanges, previewConfiguration, putConfiguration } from './put.js'
import { readConfiguration } from './saved-documents.js'
import { validateCandidate, validateSaved } from './validate.js'

export const configurations = {
  put: putConfiguration,
  preview: previewConfiguration,
  changes: previewChanges,
  read: async (ctx: ConfigurationCtx, subscriber: Subscriber) => readConfiguration(ctx, subscriber),
  validate: validateSaved,
  check: async (ctx: ConfigurationCtx, subscriber: Subscriber, document: unknown) =>
    validateCandidate(ctx, subscriber, document),
  checkCredentials,
  recordCheck: recordCredentialCheck,
  history: configurationHistory,
  version: readVersion,
  diff: diffVersions,
  rollback: rollBack,
  previewRollback: previewRollBack,
}

/** Going live with a distributor, for all that have it configured. */
export const goingLive = { planGoLive, goLive }

export const catalog = { explain: explainProduct }
