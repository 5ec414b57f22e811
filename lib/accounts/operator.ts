/** What the operator does with subscribers, their keys, the secret key and the audit. */
import { rotateSecretKey } from './data-keys.js'
import { changeAllowlist, createKey, listKeys, rotateKey, setKeyStatus } from './keys.js'
import { createSubscriber, listSubscribers } from './subscribers.js'
import { verifyAudit } from './verify-audit.js'

export const subscribers = { create: createSubscriber, list: listSubscribers }

export const keys = {
  create: createKey,
  list: listKeys,
  allowlist: changeAllowlist,
  setStatus: setKeyStatus,
  rotate: rotateKey,
}

export const secrets = { rotate: rotateSecretKey }

export const audit = { verify: verifyAudit }
