/**
 * The distributors that come with the product (decisions 3.1). Their settings follow distributors'
 * own words.
 */
import { defineDistributor } from './distributor.js'
import type { Setting } from './distributor.js'

/** A user name, an account or customer number. */
const account = (label: string, path: string): Setting => ({
  type: 'string',
  label,
  path,
  required: true,
  credential: true,
})
/** An account number of digits. */
const number = (label: string, path: string): Setting => ({
  ...account(label, path),
  form: 'text_or_number',
})
const secret = (label: string, path: string): Setting => ({ ...account(label, path), secret: true })
const optional = (setting: Setting): Setting => ({ ...setting, required: false })
const emails = (path: string): Setting => ({
  type: 'array',
  label: 'E-mail addresses that FFL copies go to',
  path,
  required: true,
  form: 'email',
  helperText: "The distributor's own address for licence copies, and yours",
})

export const lipseys = defineDistributor({
  distid: 'LIP',
  name: 'Lipseys',
  automatedFulfillment: true,
  templateShipping: 9.95,
  settings: {
    api_user: account('E-mail address of the drop-ship account', 'fulfillment-API_USER'),
    api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
    store_user: optional(
      account('E-mail address of the main account', 'fulfillment-ship_to_store-API_USER'),
    ),
    store_password: optional(
      secret('Password of the main account', 'fulfillment-ship_to_store-API_PASSWORD'),
    ),
    ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
  },
})

export const zanders = defineDistributor({
  distid: 'ZND',
  name: 'Zanders',
  automatedFulfillment: true,
  templateShipping: 15,
  settings: {
    accessories_user: account(
      'User of the accessories account',
      'fulfillment-accessories-api_user',
    ),
    accessories_password: secret(
      'Password of the accessories account',
      'fulfillment-accessories-api_password',
    ),
    firearms_user: account('User of the firearms account', 'fulfillment-firearms-api_user'),
    firearms_password: secret(
      'Password of the firearms account',
      'fulfillment-firearms-api_password',
    ),
    store_user: optional(account('User of the main account', 'fulfillment-ship_to_store-api_user')),
    store_password: optional(
      secret('Password of the main account', 'fulfillment-ship_to_store-api_password'),
    ),
    ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
  },
})

export const davidsons = defineDistributor({
  distid: 'DAV',
  name: 'Davidsons',
  automatedFulfillment: false,
  templateShipping: 29.95,
  settings: {},
})

export const rsr = defineDistributor({
  distid: 'RSR',
  name: 'RSR Group',
  automatedFulfillment: true,
  templateShipping: 9.99,
  settings: {
    api_user: number('Drop-ship account number', 'fulfillment-API_USER'),
    api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
    store_account: optional(
      number('Main account number', 'fulfillment-ship_to_store-store_account'),
    ),
    store_password: optional(
      secret('Password of the main account', 'fulfillment-ship_to_store-password'),
    ),
    ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
  },
})

const billing = (label: string, name: string, more: Partial<Setting> = {}): Setting => ({
  type: 'string',
  label,
  path: `fulfillment-billing_address-${name}`,
  required: 'in_object',
  ...more,
})

export const secondAmendmentWholesale = defineDistributor({
  distid: '2AW',
  name: '2nd Amendment Wholesale',
  automatedFulfillment: true,
  templateShipping: 11.99,
  requiredSections: ['fulfillment'],
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
})

export const amchar = defineDistributor({
  distid: 'AMC',
  name: 'AmChar',
  automatedFulfillment: false,
  templateShipping: 9.95,
  requiredSections: ['fulfillment'],
  settings: { api_key: secret('API key', 'fulfillment-api_key') },
})

export const billHicks = defineDistributor({
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
})

export const chattanooga = defineDistributor({
  distid: 'CSSI',
  name: 'Chattanooga Shooting Supplies',
  automatedFulfillment: true,
  templateShipping: 14.95,
  requiredSections: ['fulfillment'],
  settings: {
    api_sid: account('API SID', 'fulfillment-API_SID'),
    api_token: secret('API token', 'fulfillment-API_TOKEN'),
    default_shipping_method: {
      type: 'string',
      label: 'Shipping method of what is no firearm',
      path: 'default_shipping_method_non_firearms',
      choices: ['best', 'fastest', 'economy', 'ground', 'next_day_air', 'second_day_air'],
    },
  },
})

export const sportsSouth = defineDistributor({
  distid: 'TSW',
  name: 'Sports South',
  automatedFulfillment: true,
  templateShipping: 10.95,
  settings: {
    api_user: { ...number('User number', 'fulfillment-api_user'), type: 'number' },
    api_customer_number: {
      ...number('Customer number', 'fulfillment-api_customer_number'),
      type: 'number',
    },
    api_password: { ...secret('Password', 'fulfillment-api_password'), form: 'text_or_number' },
    ffl_recipient_emails: optional(emails('fulfillment-ffl_recipient_emails')),
  },
})

export const camfour = defineDistributor({
  distid: 'CAM4',
  name: 'CamFour',
  automatedFulfillment: false,
  templateShipping: 15,
  requiredSections: ['product_feed'],
  settings: { feed_api_key: secret('API key of the product feed', 'product_feed-api_key') },
})

export const builtin = [
  lipseys,
  zanders,
  davidsons,
  rsr,
  secondAmendmentWholesale,
  amchar,
  billHicks,
  chattanooga,
  sportsSouth,
  camfour,
]
