/** Shapes of ping, account and usage (contract "Account"). */
import * as z from 'zod'
import { TIER_NAMES } from './tiers.js'

const tier = z
  .enum(TIER_NAMES)
  .meta({ component: 'Tier', about: 'What sets the rate limits of a key' })
const limits = z
  .object({
    per_minute: z.int().describe('Requests in any 60 seconds'),
    per_day: z.int().describe('Requests of a UTC day'),
  })
  .meta({ component: 'Limits', about: 'Rate limits of a key, in requests' })
const keyName = z.string().describe('The name that the operator gave the key')
const requests = z.int().describe('How many')

export const Ping = z
  .object({ pong: z.literal(true).describe('Always true'), key_name: keyName, tier })
  .meta({ component: 'Ping', about: 'The key is valid' })

export const Account = z
  .object({
    key_name: keyName,
    contact_email: z.string().describe('Where the operator reaches you'),
    tier,
    ip_whitelist: z
      .array(z.string())
      .describe('Registered server addresses and ranges of this key'),
    limits,
    configured_distributors: z
      .array(z.string())
      .describe('Names of the distributors in the configuration'),
    active_distributors: z.array(z.string()).describe('Names of those that it has as active'),
  })
  .meta({ component: 'Account', about: 'The calling key and its account' })

export const Usage = z
  .object({
    tier,
    limits,
    today: z.int().describe('Requests of this UTC day, this one included'),
    this_month: z.int().describe('Requests of this UTC month, this one included'),
    by_endpoint_today: z
      .array(
        z.object({
          endpoint: z.string().describe('The route, as GET /v1/products/{upc}'),
          requests,
        }),
      )
      .describe('Requests of this UTC day by route'),
    by_day_last_7: z
      .array(
        z.object({
          day: z.string().meta({ description: 'YYYY-MM-DD, UTC', format: 'date' }),
          requests,
        }),
      )
      .describe('Seven days, oldest first, days without requests included'),
  })
  .meta({ component: 'Usage', about: 'Requests of the calling key' })
