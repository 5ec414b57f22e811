/** Bill Hicks: its settings, and what it brings. */
import { defineDistributor } from '../../distributor.js'
import type { BuiltIn } from '../built-in.js'
import { account, emails, optional, secret } from '../settings.js'
import { feeds } from './account-feed.js'
import { checkLogin, SERVER } from './account.js'
import { catalog, quantity } from './feed.js'
import { billHicksOrders } from './orders.js'
import { simulator } from './simulator.js'

const folder = (label: string, name: string, helperText: string) =>
  ({
    type: 'string',
    label,
    helperText,
    path: `fulfillment-${name}`,
  }) as const

export const billHicks: BuiltIn = {
  distributor: defineDistributor({
    distid: 'BILL',
    name: 'Bill Hicks',
    automatedFulfillment: true,
    templateShipping: 15,
    requiredSections: ['fulfillment'],
    files: SERVER,
    settings: {
      customer_number: account('Customer number', 'fulfillment-customer_number'),
      ffl_recipient_emails: emails('fulfillment-ffl_recipient_emails'),
      ship_to: {
        type: 'string',
        label: 'Ship-to number',
        helperText: 'Of your store; what goes elsewhere is sent without one',
        path: 'fulfillment-ship_to',
      },
      default_ship_method: {
        type: 'string',
        label: 'Default ship method',
        path: 'fulfillment-default_ship_method',
        choices: ['UPSF', 'UPSR'],
      },
      firearm_ship_method: {
        type: 'string',
        label: 'Ship method for firearms',
        helperText: 'Without it, the default one',
        path: 'fulfillment-firearm_ship_method',
        choices: ['UPSF', 'UPSR', 'UPSH', 'UPS'],
      },
      ftp_user: optional(account('User of the FTP account', 'fulfillment-ftp_user')),
      ftp_password: optional(secret('Password of the FTP account', 'fulfillment-ftp_password')),
      ftp_folder: folder(
        'Folder of the FTP account',
        'ftp_folder',
        'Where the feed lies, with the folders of orders and answers in it; blank for none',
      ),
      ftp_order_folder: folder('Folder that orders go to', 'ftp_order_folder', 'toBHC without it'),
      ftp_answer_folder: folder(
        'Folder that answers come from',
        'ftp_answer_folder',
        'fromBHC without it',
      ),
    },
    check: checkLogin,
    fulfillment: billHicksOrders(),
    feeds,
  }),
  presets: [catalog, quantity],
  simulator,
}
