/** CamFour: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { secret } from '../settings.js'

export const camfour: BuiltIn = {
  distributor: defineDistributor({
    distid: 'CAM4',
    name: 'CamFour',
    automatedFulfillment: false,
    templateShipping: 15,
    requiredSections: ['product_feed'],
    settings: { feed_api_key: secret('API key of the product feed', 'product_feed-api_key') },
  }),
  simulator: { credentials: { feed_api_key: 'demo-camfour' } },
}
