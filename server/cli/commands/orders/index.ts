/** What the operator does with orders. */
import type { Command } from '../../command.js'
import { preflightCommand } from './preflight.js'
import { RESOLVE, resolve } from './resolve.js'
import { FETCH, fetchCopy, verify } from './journal.js'
import { reconcile } from './reconcile.js'
import { list, show } from './show.js'

export const text = { type: 'string' } as const

const flag = { type: 'boolean' } as const

const WHOSE = {
  subscriber: 'name or id of the shop; needed where two shops have the same order_id',
}

const WHICH = { '<ORDER>': 'an order_id, or the id or the reference of a purchase order' }

export const orderCommands: Command[] = [
  preflightCommand,
  {
    name: 'orders list',
    summary: 'Purchase orders that are open, or that wait for a person',
    effect: 'reads',
    options: { subscriber: text, state: text, limit: text },
    help: {
      subscriber: 'name or id of the shop; all by default',
      state:
        'review (waits for a person), unknown (being found out), open (both, and what is ' +
        'being sent; the default), all',
      limit: '50 by default',
    },
    example: 'quartermaster orders list --state review',
    run: list,
  },
  {
    name: 'orders show',
    summary: 'One order with everything that happened to it',
    effect: 'reads',
    positionals: ['<ORDER>'],
    options: { subscriber: text, transcript: flag },
    help: {
      ...WHICH,
      ...WHOSE,
      transcript:
        'also what went over the wire in the last 90 days, with passwords and tokens hidden',
    },
    example: 'quartermaster orders show W-1001 --transcript',
    run: show,
  },
  {
    name: 'orders resolve',
    summary:
      'Settle a purchase order of which nobody could find out what became; without --yes ' +
      'it shows what it would do',
    effect: 'writes',
    positionals: ['<ORDER>'],
    options: { placed: text, absent: text, reason: text, subscriber: text, yes: flag },
    help: {
      ...WHICH,
      placed: 'the distributor has it: its number there',
      absent: 'the distributor does not have it: resend sends it once more, refuse ends it',
      reason: 'why; needed for --absent, where the caller of the API is told it',
      ...WHOSE,
      yes: 'do it',
    },
    example: RESOLVE,
    run: resolve,
  },
  {
    name: 'orders reconcile',
    summary: 'Find out now what became of open orders, and look for forgotten ones',
    effect: 'writes',
    options: { since: text, resume: flag, yes: flag },
    help: {
      since:
        'ask distributors for orders since this time that are not known here; after a ' +
        'restore, the time of the backup, which is then the default',
      resume: 'let orders be placed again, if nothing is in doubt',
      yes: 'you have looked at what is in doubt',
    },
    example: 'quartermaster orders reconcile --since 2026-11-21T10:00:00Z --resume',
    run: reconcile,
  },
  {
    name: 'orders journal verify',
    summary:
      'Prove that the journal of orders is whole, in every copy, and that the orders are ' +
      'what it says',
    effect: 'reads',
    options: { anchor: text, 'journal-copy': flag },
    help: {
      anchor: 'SEQ:MAC of an earlier head: proves that nothing up to it was cut off',
      'journal-copy':
        'compare with the copy in the bucket of QUARTERMASTER_S3_*, too (also ' +
        'QUARTERMASTER_JOURNAL_COPY=1)',
    },
    example:
      'quartermaster orders journal verify --anchor ' +
      '1042:kZ0h1x0v8m3q5s7u9w1y3A5C7E9G1I3K5M7O9Q1S3U4',
    run: verify,
  },
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
