/** Bill Hicks: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { account, emails } from '../settings.js'
import { simulator } from './simulator.js'

export const billHicks: BuiltIn = {
  distributor: defineDistributor({
    distid: 'BILL',
    name: 'Bill Hicks',
    automatedFulfillment: true,
    templateShipping: 15,
    requiredSections: ['fulfillment'],
    settings: {
      customer_number: account('Customer number', 'fulfillment-customer_number'),
      ffl_recipient_emails: emails('fulfillment-ffl_recipient_emails'),
      ship_to: { type: 'string', label: 'Ship-to number', path: 'fulfillment-ship_to' },
      default_ship_method: {
        type: 'string',
        label: 'Default ship method',
        path: 'fulfillment-default_ship_method',
        choices: ['UPSF', 'UPSR'],
      },
    },
  }),
  simulator,
}
