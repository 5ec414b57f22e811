/** 2nd Amendment Wholesale: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { Setting } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { secret, emails } from '../settings.js'
import { feeds } from './account-feed.js'
import { API } from './api.js'
import { catalog, stock } from './feed.js'
import { checkToken, secondAmendmentOrders } from './orders.js'
import { simulator } from './simulator.js'

const billing = (label: string, name: string, more: Partial<Setting> = {}): Setting => ({
  type: 'string',
  label,
  path: `fulfillment-billing_address-${name}`,
  required: 'in_object',
  ...more,
})

export const secondAmendmentWholesale: BuiltIn = {
  distributor: defineDistributor({
    distid: '2AW',
    name: '2nd Amendment Wholesale',
    automatedFulfillment: true,
    templateShipping: 11.99,
    requiredSections: ['fulfillment'],
    api: { url: API },
    settings: {
      api_token: secret('API token', 'fulfillment-API_TOKEN'),
      ffl_recipient_emails: emails('fulfillment-ffl_recipient_emails'),
      billing_company: billing('Billing: company', 'company'),
      billing_first_name: billing('Billing: first name', 'first_name'),
      billing_last_name: billing('Billing: last name', 'last_name'),
      billing_street: billing('Billing: street', 'address_street'),
      billing_street_2: billing('Billing: second line of the street', 'address_street_2', {
        required: false,
      }),
      billing_city: billing('Billing: city', 'city'),
      billing_state: billing('Billing: state', 'state', { type: 'state-selector' }),
      billing_postal_code: billing('Billing: ZIP', 'postal_code', { form: 'postal_code' }),
      billing_email: billing('Billing: e-mail address', 'email', { form: 'email' }),
      billing_phone: billing('Billing: phone', 'phone', { form: 'text_or_number' }),
    },
    check: checkToken,
    fulfillment: secondAmendmentOrders(),
    feeds,
  }),
  presets: [catalog, stock],
  simulator,
}
