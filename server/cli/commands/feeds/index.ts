/** The commands of feeds. */
import { presets } from '../../../../lib/distributors/builtin/index.js'
import type { Command } from '../../command.js'
import { withApp } from '../../with-app.js'
import { SET, SOURCE, accept, importFile, pull, setSource } from './take.js'
import { statusLines } from './status.js'
import { check } from './check.js'

export const feedCommands: Command[] = [
  {
    name: 'feeds import',
    summary: 'Take in a local feed file, plain or gzip',
    effect: 'writes',
    positionals: ['<DISTID>', '<FILE>'],
    options: { ...SOURCE.options, 'as-of': { type: 'string' }, force: { type: 'boolean' } },
    help: {
      ...SOURCE.help,
      '<FILE>': 'path of the file',
      'as-of': 'when the file was made; its modification time by default',
      force: 'skip the comparison with the previous feed',
    },
    example: 'quartermaster feeds import DAV ./davidsons_inventory.csv',
    run: importFile,
  },
  {
    name: 'feeds set',
    summary: "Set where a distributor's feed is pulled from",
    effect: 'writes',
    positionals: ['<DISTID>', '<LOCATION>'],
    options: {
      ...SOURCE.options,
      every: { type: 'string' },
      off: { type: 'boolean' },
      'allow-private': { type: 'boolean' },
    },
    help: {
      ...SOURCE.help,
      '<LOCATION>':
        "http(s) URL, path on the server, or `account`: the shop's own account at the distributor",
      every: 'minutes between pulls, 20 by default',
      off: 'keep the source, but do not pull it',
      'allow-private': 'the source may be on this machine or a private network',
    },
    example: SET,
    run: setSource,
  },
  {
    name: 'feeds pull',
    summary: "Pull a distributor's sources now",
    effect: 'writes',
    positionals: ['<DISTID>'],
    help: { '<DISTID>': '`feeds status` shows whose sources are set' },
    example: 'quartermaster feeds pull DAV',
    run: pull,
  },
  {
    name: 'feeds status',
    summary: 'What each source last brought, and what waits for a decision',
    effect: 'reads',
    example: 'quartermaster feeds status',
    run: ({ dir, out }) =>
      withApp(dir, async (app) => {
        const sources = await app.operator.feeds.status()
        for (const line of statusLines(sources, out.width)) out.line(line)
        out.result({ sources })
      }),
  },
  {
    name: 'feeds accept',
    summary: 'Take in the feed that was last refused',
    effect: 'writes',
    positionals: ['<DISTID>'],
    ...SOURCE,
    example: 'quartermaster feeds accept DAV',
    run: accept,
  },
  {
    name: 'feeds check',
    summary:
      'What import would do with a file: 20 mapped rows, the rejects, the verdict; writes nothing',
    effect: 'reads',
    positionals: ['<PRESET>', '<FILE>'],
    help: {
      '<PRESET>': `a preset (${Object.keys(presets).join(', ')}) or a distributor, by distid or name`,
      '<FILE>': 'path of the file, plain or gzip',
    },
    example: 'quartermaster feeds check davidsons ./davidsons_inventory.csv',
    run: check,
  },
]
