/** The distributors that come with the product (decisions 3.1). Their settings follow distributors' own words. */
import { defineDistributor } from './distributor.js'
import type { Setting } from './distributor.js'

/** A user name, an account or customer number. */
const account = (label: string, path: string): Setting => ({ type: 'string', label, path, required: true, credential: true })
const secret = (label: string, path: string): Setting => ({ ...account(label, path), secret: true })
const emails = (path: string): Setting => ({ type: 'array', label: 'E-mail addresses that FFL copies go to', path, required: true })

export const lipseys = defineDistributor({
  distid: 'LIP', name: 'Lipseys', automatedFulfillment: true,
  settings: {
    api_user: account('E-mail address of the drop-ship account', 'fulfillment-API_USER'),
    api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
    store_user: { ...account('E-mail address of the main account', 'fulfillment-ship_to_store-API_USER'), required: false },
    store_password: { ...secret('Password of the main account', 'fulfillment-ship_to_store-API_PASSWORD'), required: false },
    ffl_recipient_emails: { ...emails('fulfillment-ffl_recipient_emails'), required: false },
  },
})

export const zanders = defineDistributor({
  distid: 'ZND', name: 'Zanders', automatedFulfillment: true,
  settings: {
    accessories_user: account('User of the accessories account', 'fulfillment-accessories-api_user'),
    accessories_password: secret('Password of the accessories account', 'fulfillment-accessories-api_password'),
    firearms_user: account('User of the firearms account', 'fulfillment-firearms-api_user'),
    firearms_password: secret('Password of the firearms account', 'fulfillment-firearms-api_password'),
    store_user: { ...account('User of the main account', 'fulfillment-ship_to_store-api_user'), required: false },
    store_password: { ...secret('Password of the main account', 'fulfillment-ship_to_store-api_password'), required: false },
    ffl_recipient_emails: { ...emails('fulfillment-ffl_recipient_emails'), required: false },
  },
})

export const davidsons = defineDistributor({ distid: 'DAV', name: 'Davidsons', automatedFulfillment: false, settings: {} })

export const rsr = defineDistributor({
  distid: 'RSR', name: 'RSR Group', automatedFulfillment: true,
  settings: {
    api_user: account('Drop-ship account number', 'fulfillment-API_USER'),
    api_password: secret('Password of the drop-ship account', 'fulfillment-API_PASSWORD'),
    store_account: { ...account('Main account number', 'fulfillment-ship_to_store-store_account'), required: false },
    store_password: { ...secret('Password of the main account', 'fulfillment-ship_to_store-password'), required: false },
    ffl_recipient_emails: { ...emails('fulfillment-ffl_recipient_emails'), required: false },
  },
})

export const secondAmendmentWholesale = defineDistributor({
  distid: '2AW', name: '2nd Amendment Wholesale', automatedFulfillment: true,
  settings: {
    api_token: secret('API token', 'fulfillment-API_TOKEN'),
    ffl_recipient_emails: emails('fulfillment-ffl_recipient_emails'),
  },
})

export const amchar = defineDistributor({
  distid: 'AMC', name: 'AmChar', automatedFulfillment: false,
  settings: { api_key: secret('API key', 'fulfillment-api_key') },
})

export const billHicks = defineDistributor({
  distid: 'BILL', name: 'Bill Hicks', automatedFulfillment: true,
  settings: {
    customer_number: account('Customer number', 'fulfillment-customer_number'),
    ffl_recipient_emails: emails('fulfillment-ffl_recipient_emails'),
    ship_to: { type: 'string', label: 'Ship-to number', path: 'fulfillment-ship_to' },
    default_ship_method: { type: 'string', label: 'Default ship method (UPSF or UPSR)', path: 'fulfillment-default_ship_method' },
  },
})

export const chattanooga = defineDistributor({
  distid: 'CSSI', name: 'Chattanooga Shooting Supplies', automatedFulfillment: true,
  settings: {
    api_sid: account('API SID', 'fulfillment-API_SID'),
    api_token: secret('API token', 'fulfillment-API_TOKEN'),
  },
})

export const sportsSouth = defineDistributor({
  distid: 'TSW', name: 'Sports South', automatedFulfillment: true,
  settings: {
    api_user: { ...account('User number', 'fulfillment-api_user'), type: 'number' },
    api_customer_number: { ...account('Customer number', 'fulfillment-api_customer_number'), type: 'number' },
    api_password: secret('Password', 'fulfillment-api_password'),
    ffl_recipient_emails: { ...emails('fulfillment-ffl_recipient_emails'), required: false },
  },
})

export const camfour = defineDistributor({
  distid: 'CAM4', name: 'CamFour', automatedFulfillment: false,
  settings: { feed_api_key: secret('API key of the product feed', 'product_feed-api_key') },
})

export const builtin = [lipseys, zanders, davidsons, rsr, secondAmendmentWholesale, amchar, billHicks, chattanooga, sportsSouth, camfour]
