/** The commands of the FFL directory. */
import { argument } from '../../command.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { ADD, add, set, showDealer, showExpiring } from './dealers.js'
import { LIST_HELP, LIST_OPTIONS, importList, importMarks } from './lists.js'

const LICENSE = {
  '<LICENSE>': 'license number; unknown digits may be X, or region-district-sequence alone',
}

const text = { type: 'string' } as const

export const fflCommands: Command[] = [
  {
    name: 'ffls import',
    summary: "Take in the ATF's monthly list of licensees",
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...LIST_OPTIONS,
      revoke: { type: 'string', multiple: true },
      accept: { type: 'boolean' },
    },
    help: {
      '<FILE>': 'the list as text (tab, comma or pipe), plain or gzip, or as .xlsx',
      ...LIST_HELP,
      revoke: 'take dealers off the list in this state whatever the list holds; may be repeated',
      accept: 'the list is whole: take off all dealers that it lacks',
    },
    example: 'quartermaster ffls import ./1126-ffl-list.txt --as-of 2026-11-10',
    run: importList,
  },
  {
    name: 'ffls on-file',
    summary: "Take in a distributor's list of the dealers whose license it has",
    effect: 'writes',
    positionals: ['<DISTID>', '[FILE]'],
    options: { ...LIST_OPTIONS, force: { type: 'boolean' }, subscriber: text },
    help: {
      '<DISTID>': '`distributors list` shows them',
      '[FILE]': 'rows of NAME;STREET;CITY;ST;ZIP;LICENSE, or one license number a line',
      subscriber: 'ask the distributor with this account instead of reading a file',
      ...LIST_HELP,
      force: 'take marks away however few dealers the list holds',
    },
    example: 'quartermaster ffls on-file RSR ./rsr-ffl-transfer-dealers.txt',
    run: importMarks,
  },
  {
    name: 'ffls set',
    summary: 'Set what you know of a dealer; lists leave it as it is',
    effect: 'writes',
    positionals: ['<LICENSE>'],
    options: {
      'fee-longgun': text,
      'fee-handgun': text,
      email: text,
      phone: text,
      residential: text,
      'contact-required': text,
      'on-file': text,
      sot: text,
      'valid-until': text,
      reason: text,
    },
    help: {
      ...LICENSE,
      'fee-longgun': 'transfer fee in dollars, or none',
      'fee-handgun': 'transfer fee in dollars, or none',
      email: 'address, or none',
      phone: '10 digits, and no list changes it; none leaves it to the lists',
      residential: 'yes or no: home-based',
      'contact-required': 'yes or no: call before shipping',
      'on-file': 'yes or no: you have a copy of the license',
      sot: 'yes or no: takes in NFA items',
      'valid-until': 'day until which the license is valid beyond its own date, or none',
      reason: 'why; needed for --valid-until',
    },
    example:
      'quartermaster ffls set 1-57-67890 --fee-longgun 25 --fee-handgun 20 --email ' +
      'front@dealer.example --on-file yes',
    run: set,
  },
  {
    name: 'ffls add',
    summary: 'Add a dealer that no list has',
    effect: 'writes',
    positionals: ['<LICENSE>'],
    options: {
      name: text,
      business: text,
      street: text,
      city: text,
      state: text,
      zip: text,
      phone: text,
      email: text,
      reason: text,
    },
    help: {
      '<LICENSE>': 'license number in full',
      name: 'name on the license',
      business: 'trade name',
      street: 'premise',
      city: 'premise',
      state: 'two letters',
      zip: '5 or 9 digits',
      phone: '10 digits',
      email: 'address',
      reason: 'why; kept in the audit',
    },
    example: ADD,
    run: add,
  },
  {
    name: 'ffls show',
    summary: 'One dealer, with what you set and who has its license on file',
    effect: 'reads',
    positionals: ['<LICENSE>'],
    help: LICENSE,
    example: 'quartermaster ffls show 1-57-67890',
    run: (invocation) =>
      withApp(invocation.dir, async (app) =>
        showDealer(
          { ...invocation, dryRun: false },
          await app.operator.ffls.show(argument(invocation.args, 0)),
        ),
      ),
  },
  {
    name: 'ffls expiring',
    summary: 'Licenses that end soon, of the dealers that you work with',
    effect: 'reads',
    options: { days: text },
    help: { days: 'how many days ahead to look; 60 by default' },
    example: 'quartermaster ffls expiring --days 30',
    run: showExpiring,
  },
]
