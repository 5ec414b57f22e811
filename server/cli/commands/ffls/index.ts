/** The commands of the FFL directory. */
import { argument } from '../../command.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { ADD, add, set, showDealer, showExpiring } from './dealers.js'
import { LIST_OPTIONS, showHeld, importList, importMarks } from './lists.js'
import { carriesOut } from '../../operation-help.js'
import { fflOperations } from '../../../../lib/ffls/operations.js'

const YES_NO = 'yes or no'

const text = { type: 'string' } as const

export const fflCommands: Command[] = [
  carriesOut(fflOperations, 'ffls.import', {
    name: 'ffls import',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...LIST_OPTIONS,
      revoke: { type: 'string', multiple: true },
      accept: { type: 'boolean' },
    },
    help: { '<FILE>': 'the list as text (tab, comma or pipe), plain or gzip, or as .xlsx' },
    example: 'quartermaster ffls import ./1126-ffl-list.txt --as-of 2026-11-10',
    run: importList,
  }),
  carriesOut(fflOperations, 'ffls.onFile', {
    name: 'ffls on-file',
    effect: 'writes',
    positionals: ['<DISTID>', '[FILE]'],
    options: { ...LIST_OPTIONS, force: { type: 'boolean' }, subscriber: text },
    acts: { subscriber: 'ffls.onFileByAccount' },
    help: {
      '[FILE]': 'rows of NAME;STREET;CITY;ST;ZIP;LICENSE, or one license number a line',
    },
    example: 'quartermaster ffls on-file RSR ./rsr-ffl-transfer-dealers.txt',
    run: importMarks,
  }),
  carriesOut(fflOperations, 'ffls.held', {
    name: 'ffls held',
    effect: 'reads',
    example: 'quartermaster ffls held',
    run: showHeld,
  }),
  carriesOut(fflOperations, 'ffls.set', {
    name: 'ffls set',
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
    adds: {
      residential: YES_NO,
      'contact-required': YES_NO,
      'on-file': YES_NO,
      sot: YES_NO,
    },
    example:
      'quartermaster ffls set 1-57-67890 --fee-longgun 25 --fee-handgun 20 --email ' +
      'front@dealer.example --on-file yes',
    run: set,
  }),
  carriesOut(fflOperations, 'ffls.add', {
    name: 'ffls add',
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
    members: { '<LICENSE>': 'license_number', business: 'business_name' },
    example: ADD,
    run: add,
  }),
  carriesOut(fflOperations, 'ffls.show', {
    name: 'ffls show',
    effect: 'reads',
    positionals: ['<LICENSE>'],
    example: 'quartermaster ffls show 1-57-67890',
    run: (invocation) =>
      withApp(invocation.dir, async (app) =>
        showDealer(
          { ...invocation, dryRun: false },
          await app.operator.ffls.show(argument(invocation.args, 0)),
        ),
      ),
  }),
  carriesOut(fflOperations, 'ffls.expiring', {
    name: 'ffls expiring',
    effect: 'reads',
    options: { days: text },
    example: 'quartermaster ffls expiring --days 30',
    run: showExpiring,
  }),
]
