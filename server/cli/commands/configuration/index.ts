/** The commands of a subscriber's configuration document. */
import { configurationHistory } from '../../../../lib/configuration/history.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { validate } from './check.js'
import { goBack, put } from './save.js'
import { SUBSCRIBER, subscriberOf } from './subscriber.js'
import { diff, get } from './versions.js'
import { carriesOut } from '../../operation-help.js'
import { configurationOperations } from '../../../../lib/configuration/operations.js'

export const configurationCommands: Command[] = [
  carriesOut(configurationOperations, 'configurations.read', {
    name: 'config get',
    effect: 'writes',
    options: { ...SUBSCRIBER.options, version: { type: 'string' }, out: { type: 'string' } },
    acts: { version: 'configurations.version' },
    adds: { ...SUBSCRIBER.adds, version: 'the saved one by default' },
    help: { out: 'file to write it to, for `config put`' },
    example: 'quartermaster config get --out config.json',
    run: get,
  }),
  carriesOut(configurationOperations, 'configurations.put', {
    name: 'config put',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...SUBSCRIBER.options,
      validate: { type: 'boolean' },
      'if-version': { type: 'string' },
    },
    members: { '<FILE>': 'document' },
    adds: { ...SUBSCRIBER.adds, '<FILE>': 'a JSON file, or - for standard input' },
    help: { 'if-version': 'refuse unless this version is the saved one' },
    example: 'quartermaster config put config.json --validate --if-version 3',
    run: put,
  }),
  carriesOut(configurationOperations, 'configurations.validate', {
    name: 'config validate',
    effect: 'writes',
    positionals: ['[FILE]'],
    options: SUBSCRIBER.options,
    acts: { '[FILE]': 'configurations.check' },
    adds: {
      ...SUBSCRIBER.adds,
      '[FILE]':
        'a JSON file, or - for standard input; the saved one by default, with live checks of its ' +
        'credentials',
    },
    example: 'quartermaster config validate',
    run: validate,
  }),
  carriesOut(configurationOperations, 'configurations.history', {
    name: 'config history',
    effect: 'reads',
    options: SUBSCRIBER.options,
    adds: SUBSCRIBER.adds,
    example: 'quartermaster config history',
    run: ({ dir, values, out }) =>
      withApp(dir, async (app) => {
        const subscriber = await subscriberOf(app, values)
        const versions = await configurationHistory(app.ctx, subscriber)
        out.table(versions.map((row) => ({ ...row })))
        out.result({ subscriber: subscriber.name, versions })
      }),
  }),
  carriesOut(configurationOperations, 'configurations.diff', {
    name: 'config diff',
    effect: 'reads',
    positionals: ['[FROM]', '[TO]'],
    options: SUBSCRIBER.options,
    adds: {
      ...SUBSCRIBER.adds,
      '[FROM]': 'the last but one by default',
      '[TO]': 'the last by default',
    },
    example: 'quartermaster config diff 3 5',
    run: diff,
  }),
  carriesOut(configurationOperations, 'configurations.rollback', {
    name: 'config rollback',
    effect: 'writes',
    positionals: ['<VERSION>'],
    options: { ...SUBSCRIBER.options, validate: { type: 'boolean' } },
    adds: SUBSCRIBER.adds,
    example: 'quartermaster config rollback 3',
    run: goBack,
  }),
]
