/** The audit of what operators did. */
import { figure } from '../../../lib/core/figures.js'
import { UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'
import { carriesOut } from '../operation-help.js'
import { accountOperations } from '../../../lib/accounts/operations.js'

/** How a head is written at the command line. */
export const SEQ_MAC = 'written SEQ:MAC'

/** The head of a chain, as `orders journal verify` and `audit verify` print it. */
export function anchorIn(
  values: Invocation['values'],
  option: 'anchor' | 'head' = 'anchor',
): { seq: number; mac: string } | undefined {
  const text = optional(values, option)
  const [, seq, mac] = text === undefined ? [] : (/^(\d{1,15}):([\w-]{43})$/.exec(text) ?? [])
  if (text !== undefined && mac === undefined)
    throw new UsageError(`--${option} must be SEQ:MAC, as this command prints the head`)
  return mac === undefined ? undefined : { seq: Number(seq), mac }
}

async function verify({ dir, values, out }: Invocation): Promise<number> {
  const anchor = anchorIn(values)
  return withApp(dir, async (app) => {
    const found = await app.operator.audit.verify({
      anchor,
      onProgress: out.progress('verifying', 'rows'),
    })
    for (const { seq, fault } of found.faults) out.line(`row ${seq}: ${fault}`)
    if (found.sound) out.line(`${figure(found.rows)} rows are as they were written.`)
    for (const { at, up_to: upTo } of found.joined)
      out.line(
        `Rows up to ${upTo} were taken into the chain on ${at}, by an upgrade: what was ` +
          'changed before then cannot be seen.',
      )
    if (found.head)
      out.line(
        'Head: ' +
          `${found.head.seq}:${found.head.mac}` +
          (found.sound
            ? ' (keep it elsewhere: with --anchor it proves later that nothing was cut off)'
            : ''),
      )
    out.result(found)
    return found.sound ? 0 : 1
  })
}

export const auditCommands: Command[] = [
  carriesOut(accountOperations, 'audit.verify', {
    name: 'audit verify',
    effect: 'reads',
    options: { anchor: { type: 'string' } },
    adds: { anchor: SEQ_MAC },
    example: 'quartermaster audit verify --anchor 214:kZ0h1x0v8m3q5s7u9w1y3A5C7E9G1I3K5M7O9Q1S3U4',
    run: verify,
  }),
]
