/** What an operator was told. */
import { UsageError, optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'

async function list({ dir, values, out }: Invocation): Promise<void> {
  const limit = optional(values, 'limit') ?? '100'
  if (!/^\d+$/.test(limit)) throw new UsageError('--limit must be a whole number from 1 to 1,000')
  await withApp(dir, async (app) => {
    const events = await app.operator.events.list({ limit: Number(limit) })
    for (const { at, message } of events) out.line(`${at}  ${message}`)
    if (events.length === 0) out.line('Nothing was told yet.')
    out.result({ events })
  })
}

export const eventCommands: Command[] = [
  {
    name: 'events list',
    summary: 'What you should hear of, such as licenses of dealers that end soon',
    effect: 'reads',
    options: { limit: { type: 'string' } },
    help: { limit: 'how many, the newest first; 100 by default' },
    example: 'quartermaster events list',
    run: list,
  },
]
