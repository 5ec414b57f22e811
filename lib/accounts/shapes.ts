/** Shapes of ping, account and usage (contract "Account"). */
import * as z from 'zod'
import { TIER_NAMES } from './tiers.js'

const tier = z.enum(TIER_NAMES)
const limits = z.object({ per_minute: z.int(), per_day: z.int() })

export const Ping = z.object({ pong: z.literal(true), key_name: z.string(), tier })

export const Account = z.object({
  key_name: z.string(),
  contact_email: z.string(),
  tier,
  ip_whitelist: z.array(z.string()).describe('Registered server addresses and ranges of this key'),
  limits,
  configured_distributors: z.array(z.string()),
  active_distributors: z.array(z.string()),
})

export const Usage = z.object({
  tier,
  limits,
  today: z.int().describe('Requests of this UTC day'),
  this_month: z.int().describe('Requests of this UTC month'),
  by_endpoint_today: z.array(z.object({ endpoint: z.string(), requests: z.int() })),
  by_day_last_7: z.array(z.object({ day: z.string(), requests: z.int() })).describe('Oldest first, days without requests included'),
})
