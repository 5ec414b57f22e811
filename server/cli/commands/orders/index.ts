/** What the operator does with orders. */
import type { Command } from '../../command.js'
import { preflightCommand } from './preflight.js'
import { RESOLVE, resolve } from './resolve.js'
import { FETCH, fetchCopy, verify } from './journal.js'
import { pause } from './pause.js'
import { reconcile } from './reconcile.js'
import { list, show } from './show.js'
import { carriesOut } from '../../operation-help.js'
import { orderOperations } from '../../../../lib/orders/operations.js'
import { SEQ_MAC } from '../audit.js'

export const text = { type: 'string' } as const

const flag = { type: 'boolean' } as const

export const orderCommands: Command[] = [
  preflightCommand,
  carriesOut(orderOperations, 'orders.list', {
    name: 'orders list',
    effect: 'reads',
    options: { subscriber: text, state: text, limit: text },
    example: 'quartermaster orders list --state review',
    run: list,
  }),
  carriesOut(orderOperations, 'orders.show', {
    name: 'orders show',
    effect: 'reads',
    positionals: ['<ORDER>'],
    options: { subscriber: text, transcript: flag },
    example: 'quartermaster orders show W-1001 --transcript',
    run: show,
  }),
  carriesOut(orderOperations, 'orders.resolve', {
    name: 'orders resolve',
    effect: 'writes',
    positionals: ['<ORDER>'],
    options: { placed: text, absent: text, reason: text, subscriber: text, yes: flag },
    note: 'without --yes it shows what it would do',
    members: { placed: 'number', absent: 'next' },
    help: { yes: 'do it' },
    example: RESOLVE,
    run: resolve,
  }),
  carriesOut(orderOperations, 'orders.pause', {
    name: 'orders pause',
    effect: 'writes',
    options: { reason: text, 'forgotten-since': text },
    example: 'quartermaster orders pause --reason "the warehouse is closed"',
    run: pause,
  }),
  carriesOut(orderOperations, 'orders.lookBack', {
    name: 'orders reconcile',
    effect: 'writes',
    options: { since: text, resume: flag, yes: flag },
    members: { yes: 'acknowledged' },
    example: 'quartermaster orders reconcile --since 2026-11-21T10:00:00Z --resume',
    run: reconcile,
  }),
  carriesOut(orderOperations, 'orders.verifyJournal', {
    name: 'orders journal verify',
    effect: 'reads',
    options: { anchor: text, 'journal-copy': flag },
    adds: { anchor: SEQ_MAC },
    help: {
      'journal-copy':
        'compare with the copy in the bucket of QUARTERMASTER_S3_*, too (also ' +
        'QUARTERMASTER_JOURNAL_COPY=1)',
    },
    example:
      'quartermaster orders journal verify --anchor ' +
      '1042:kZ0h1x0v8m3q5s7u9w1y3A5C7E9G1I3K5M7O9Q1S3U4',
    run: verify,
  }),
  {
    name: 'orders journal fetch',
    summary:
      'Bring the journal back from its copy in the bucket of QUARTERMASTER_S3_*: opened, ' +
      'proved, and written as an orders.journal',
    effect: 'writes',
    options: { to: text, head: text },
    help: {
      to: 'the file to write; one that is there is never replaced',
      head:
        'SEQ:MAC of the journal that is wanted, where the copy has several: after a machine ' +
        'was set back',
    },
    example: FETCH,
    run: fetchCopy,
  },
]
