/** The commands of a subscriber's configuration document. */
import { configurationHistory } from '../../../../lib/configuration/history.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { validate } from './check.js'
import { goBack, put } from './save.js'
import { SUBSCRIBER, subscriberOf } from './subscriber.js'
import { diff, get } from './versions.js'

const VALIDATE = {
  validate: 'refuse when more of the live catalog would go than the delete threshold allows',
}

export const configurationCommands: Command[] = [
  {
    name: 'config get',
    summary: 'The configuration document, its credentials masked',
    effect: 'writes',
    options: { ...SUBSCRIBER.options, version: { type: 'string' }, out: { type: 'string' } },
    help: {
      ...SUBSCRIBER.help,
      version: 'number of an earlier version; the saved one by default',
      out: 'file to write it to, for `config put`',
    },
    example: 'quartermaster config get --out config.json',
    run: get,
  },
  {
    name: 'config put',
    summary: 'Check a document and save it in place of the saved one',
    effect: 'writes',
    positionals: ['<FILE>'],
    options: {
      ...SUBSCRIBER.options,
      validate: { type: 'boolean' },
      'if-version': { type: 'string' },
    },
    help: {
      ...SUBSCRIBER.help,
      '<FILE>':
        'the whole document as JSON; - reads standard input; asterisks keep a stored credential',
      ...VALIDATE,
      'if-version': 'refuse unless this version is the saved one',
    },
    example: 'quartermaster config put config.json --validate --if-version 3',
    run: put,
  },
  {
    name: 'config validate',
    summary: 'Check the saved document and its credentials, or a file against the schema',
    effect: 'writes',
    positionals: ['[FILE]'],
    ...SUBSCRIBER,
    help: {
      ...SUBSCRIBER.help,
      '[FILE]':
        'a document that is not saved; - reads standard input; the saved one, with live ' +
        'checks of its credentials, by default',
    },
    example: 'quartermaster config validate',
    run: validate,
  },
  {
    name: 'config history',
    summary: 'Every save of the document: when and by whom',
    effect: 'reads',
    ...SUBSCRIBER,
    example: 'quartermaster config history',
    run: ({ dir, values, out }) =>
      withApp(dir, async (app) => {
        const subscriber = await subscriberOf(app, values)
        const versions = await configurationHistory(app.ctx, subscriber)
        out.table(versions.map((row) => ({ ...row })))
        out.result({ subscriber: subscriber.name, versions })
      }),
  },
  {
    name: 'config diff',
    summary: 'What changed from one version of the document to another; credentials stay masked',
    effect: 'reads',
    positionals: ['[FROM]', '[TO]'],
    ...SUBSCRIBER,
    help: {
      ...SUBSCRIBER.help,
      '[FROM]': 'a version, the last but one by default',
      '[TO]': 'a version, the last by default',
    },
    example: 'quartermaster config diff 3 5',
    run: diff,
  },
  {
    name: 'config rollback',
    summary: 'Save an earlier version anew, its credentials with it',
    effect: 'writes',
    positionals: ['<VERSION>'],
    options: { ...SUBSCRIBER.options, validate: { type: 'boolean' } },
    help: { ...SUBSCRIBER.help, '<VERSION>': '`config history` lists them', ...VALIDATE },
    example: 'quartermaster config rollback 3',
    run: goBack,
  },
]
