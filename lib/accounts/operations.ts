/** The operator's operations on subscribers, their keys, the audit and the events. */
import * as z from 'zod'
import { undoableOf } from '../db/undoable.js'
import { operationsOf } from '../core/endpoint/operation.js'
import {
  Anchor,
  Head,
  Nothing,
  Subscriber,
  Time,
  limitOf,
  nothing,
} from '../core/endpoint/operation-shapes.js'
import { listAudit } from './audit.js'
import type { AccountsCtx } from './ctx.js'
import { changeAllowlist, createKey, keyUsage, listKeys, rotateKey, setKeyStatus } from './keys.js'
import { Usage } from './shapes.js'
import { createSubscriber, listSubscribers } from './subscribers.js'
import { TIER_NAMES } from './tiers.js'
import { verifyAudit } from './verify-audit.js'

const operation = operationsOf<AccountsCtx>()
const undoable = undoableOf<AccountsCtx>()

const KeyId = z.string().min(1).describe("the key's id; `keys list` shows it")
const Addresses = z.array(z.string()).describe('IPv4 or IPv6 address or CIDR range')
const NewKey = z
  .object({
    id: z.string(),
    key: z.string().describe('The text of the key: the only time that it is told'),
  })
  .meta({ component: 'IssuedKey', about: 'A key that was made just now' })

/** What the proof of the audit tells. */
export const AuditProof = z.object({
  sound: z.boolean(),
  rows: z.int(),
  head: Head.nullable(),
  joined: z.array(z.object({ at: Time, up_to: z.int() })),
  faults: z.array(z.object({ seq: z.int(), fault: z.string() })),
})

export const accountOperations = [
  undoable('subscribers.create', {
    summary: 'Register a shop',
    effect: 'writes',
    input: {
      name: z.string().describe("the shop's name, unique"),
      email: z.string().describe('its contact address'),
    },
    result: z.object({ id: z.string(), name: z.string(), email: z.string() }),
    run: createSubscriber,
  }),
  operation('subscribers.list', {
    summary: 'All shops',
    effect: 'reads',
    input: {},
    result: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        email: z.string(),
        created_at: Time,
        keys: z.int().describe('How many keys it has'),
      }),
    ),
    run: (ctx) => listSubscribers(ctx),
  }),
  undoable('keys.create', {
    summary: 'Issue an API key; it is shown once',
    effect: 'writes',
    asksAgain: true,
    input: {
      subscriber: Subscriber,
      name: z.string().describe('what the key is for'),
      email: z.string().optional().describe("contact, the shop's by default"),
      tier: z
        .enum(TIER_NAMES)
        .default('standard')
        .describe(`${TIER_NAMES.join(', ')}; standard by default`),
      ips: z.array(z.string()).default([]).describe('server address or CIDR range that may use it'),
    },
    result: NewKey,
    errors: ['not_found'],
    run: createKey,
  }),
  operation('keys.list', {
    summary: 'Keys with their tier, status and allowlist; never their text',
    effect: 'reads',
    input: {
      subscriber: z.string().optional().describe('name or id of the shop; all shops by default'),
    },
    result: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        tier: z.enum(TIER_NAMES),
        status: z.enum(['enabled', 'disabled', 'cancelled']),
        allowlist: z.array(z.string()),
        created_at: Time,
        subscriber: z.string().describe('Name of the shop'),
      }),
    ),
    errors: ['not_found'],
    run: (ctx, { subscriber }) => listKeys(ctx, subscriber),
  }),
  undoable('keys.allowlist', {
    summary: 'Register or remove server addresses of a key',
    parts: {
      allow: 'Register server addresses of a key',
      deny: 'Remove server addresses of a key',
    },
    effect: 'writes',
    asksAgain: true,
    input: { id: KeyId, allow: Addresses.optional(), deny: Addresses.optional() },
    result: z.array(z.string()).describe('The list as it is then'),
    errors: ['not_found'],
    run: (ctx, { id, ...change }) => changeAllowlist(ctx, id, change),
  }),
  undoable('keys.setStatus', {
    summary: 'Disable a key, enable it again, or cancel it for good',
    parts: {
      disabled: 'Refuse a key until it is enabled again',
      enabled: 'Let a disabled key in again',
      cancelled: 'End a key for good',
    },
    effect: 'writes',
    asksAgain: true,
    input: { id: KeyId, status: z.enum(['enabled', 'disabled', 'cancelled']) },
    result: Nothing,
    errors: ['not_found'],
    run: (ctx, { id, status }) => nothing(setKeyStatus(ctx, id, status)),
  }),
  undoable('keys.rotate', {
    summary: 'Give a key a new text; the old one stops at once',
    effect: 'writes',
    asksAgain: true,
    input: { id: KeyId },
    result: NewKey,
    errors: ['not_found'],
    run: (ctx, { id }) => rotateKey(ctx, id),
  }),
  operation('keys.usage', {
    summary: 'What a key has asked for: today, this month, and each of seven days',
    effect: 'reads',
    input: { id: KeyId },
    result: Usage,
    errors: ['not_found'],
    run: (ctx, { id }) => keyUsage(ctx, id),
  }),
  operation('audit.list', {
    summary: 'What operators did, the newest first',
    effect: 'reads',
    input: {
      before: z.int().min(1).optional().describe('acts before this number'),
      actor: z.string().optional().describe('by whom, as cli or console:pat'),
      action: z.string().optional().describe('what it begins with, as keys.'),
      limit: limitOf(500, 100),
    },
    result: z.array(
      z.object({
        seq: z.int(),
        at: Time,
        actor: z.string(),
        action: z.string(),
        detail: z.unknown().describe('What was done, with its values; no secret'),
      }),
    ),
    run: listAudit,
  }),
  operation('audit.verify', {
    summary: 'Prove that the audit of what operators did is whole',
    effect: 'reads',
    isLong: true,
    input: { anchor: Anchor },
    result: AuditProof,
    run: (ctx, { anchor }, { onProgress }) => verifyAudit(ctx, { anchor, onProgress }),
  }),
] as const
