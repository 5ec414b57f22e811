/** AmChar: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { secret } from '../settings.js'

export const amchar: BuiltIn = {
  distributor: defineDistributor({
    distid: 'AMC',
    name: 'AmChar',
    automatedFulfillment: false,
    templateShipping: 9.95,
    requiredSections: ['fulfillment'],
    settings: { api_key: secret('API key', 'fulfillment-api_key') },
  }),
  simulator: { credentials: { api_key: 'demo-amchar' } },
}
