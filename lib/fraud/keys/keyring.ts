/**
 * The keys of an installation together with what stands under them: which one is for new reports,
 * and under which counts are made.
 */
import { createHash } from 'node:crypto'
import type { FraudCtx } from '../ctx.js'
import { ApiError } from '../../core/errors.js'
import type { Log } from '../../core/log.js'
import type { Engine } from '../../db/engine.js'
import type { Reading } from '../../db/query.js'
import { column } from '../../db/reading.js'
import type { Remembered } from '../../db/state.js'
import { keysInUse } from '../reports/queries.js'
import { localKeys, partnerKeys } from './keys.js'
import type { FraudKeys, KeyStore } from './keys.js'
import { present } from '../../core/present.js'

export interface KeyringOptions {
  keys: KeyStore
  log: Log
  /** Told that reports must be brought under the key of now before anybody can be answered. */
  mend: () => void
}

/** The keys of an installation, read again when one was added or replaced. */
export function openFraudKeys(
  engine: Engine,
  { keys, log, mend }: KeyringOptions,
): Remembered<FraudKeys> {
  /** Keys that were missing when they were last read: of the same ones it is told once. */
  let told = ''
  return engine.remember('fraud', function* () {
    const texts = yield* keys.withFirst()
    const local = localKeys(texts)
    const { keys: partners, damaged } = partnerKeys(texts)
    if (damaged.length > 0)
      log.error(
        { damaged },
        'the key of a partner cannot be read: until it is restored, nothing that the partner ' +
          'reported is found',
      )
    const current = present(local.at(-1), 'a key of its own')
    const standing = yield* column(keysInUse)
    const missing = standing.filter((name) => !local.some((key) => key.name === name)).sort()
    const isLacking = missing.length > 0
    if (isLacking && missing.join() !== told)
      log.warn(
        { missing },
        'fraud-keys lacks a key that fraud reports are kept under: they are hashed anew, ' +
          'and until then nobody is told whether anything was reported',
      )
    told = missing.join()
    if (isLacking) setImmediate(mend)
    // An old local key counts only as long as reports wait under it that can be opened: of one that
    // is given up nothing may stay.
    const mirrors = [
      ...local.filter((key) => key !== current && standing.includes(key.name)),
      ...partners,
    ]
    const mirrored =
      mirrors.length === 0
        ? ''
        : createHash('sha256')
            .update(mirrors.map(({ name }) => name).join('\n'))
            .digest('base64url')
            .slice(0, 16)
    return { current, local, all: [...local, ...partners], mirrors, mirrored, isLacking }
  })
}

/**
 * The keys as of the reading that asks, for what must find every report: within a turn of the loop
 * another process may have laid a new key and moved reports to it. Throws 503 while reports are
 * there that nobody would find: an order would ship that was reported.
 */
export function* keysOfNow({ fraudKeys }: Pick<FraudCtx, 'fraudKeys'>): Reading<FraudKeys> {
  const keys = yield* fraudKeys.now()
  if (keys.isLacking)
    throw new ApiError('service_unavailable', {
      message: 'Fraud reports are being brought under a new key. Try again shortly.',
    })
  return keys
}
