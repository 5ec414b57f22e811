/** Davidson's: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { catalog, quantity } from './feed.js'

export const davidsons: BuiltIn = {
  distributor: defineDistributor({
    distid: 'DAV',
    name: 'Davidsons',
    automatedFulfillment: false,
    templateShipping: 29.95,
    settings: {},
  }),
  presets: [catalog, quantity],
}
