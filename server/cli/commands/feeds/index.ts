/** The commands of feeds. */
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { COME_WITH_IT, SET, SOURCE, accept, importFile, pull, setSource } from './take.js'
import { statusLines } from './status.js'
import { check } from './check.js'
import { carriesOut } from '../../operation-help.js'
import { feedOperations } from '../../../../lib/feeds/operations.js'

export const feedCommands: Command[] = [
  carriesOut(feedOperations, 'feeds.import', {
    name: 'feeds import',
    effect: 'writes',
    positionals: ['<DISTID>', '<FILE>'],
    options: { ...SOURCE.options, 'as-of': { type: 'string' }, force: { type: 'boolean' } },
    adds: SOURCE.adds,
    help: { '<FILE>': 'path of the file' },
    example: 'quartermaster feeds import DAV ./davidsons_inventory.csv',
    run: importFile,
  }),
  carriesOut(feedOperations, 'feeds.set', {
    name: 'feeds set',
    effect: 'writes',
    positionals: ['<DISTID>', '<LOCATION>'],
    options: {
      ...SOURCE.options,
      every: { type: 'string' },
      off: { type: 'boolean' },
      'allow-private': { type: 'boolean' },
    },
    members: { every: 'every_minutes' },
    adds: { ...SOURCE.adds, '<LOCATION>': 'or a path on the server' },
    help: { off: 'keep the source, but do not pull it' },
    example: SET,
    run: setSource,
  }),
  carriesOut(feedOperations, 'feeds.pull', {
    name: 'feeds pull',
    effect: 'writes',
    positionals: ['<DISTID>'],
    example: 'quartermaster feeds pull DAV',
    run: pull,
  }),
  carriesOut(feedOperations, 'feeds.status', {
    name: 'feeds status',
    effect: 'reads',
    example: 'quartermaster feeds status',
    run: ({ dir, out }) =>
      withApp(dir, async (app) => {
        const sources = await app.operator.feeds.status()
        for (const line of statusLines(sources, out.width)) out.line(line)
        out.result({ sources })
      }),
  }),
  carriesOut(feedOperations, 'feeds.accept', {
    name: 'feeds accept',
    effect: 'writes',
    positionals: ['<DISTID>'],
    options: SOURCE.options,
    adds: SOURCE.adds,
    example: 'quartermaster feeds accept DAV',
    run: accept,
  }),
  carriesOut(feedOperations, 'feeds.check', {
    name: 'feeds check',
    effect: 'reads',
    positionals: ['<PRESET>', '<FILE>'],
    adds: { '<PRESET>': COME_WITH_IT },
    help: { '<FILE>': 'path of the file, plain or gzip' },
    example: 'quartermaster feeds check davidsons ./davidsons_inventory.csv',
    run: check,
  }),
]
