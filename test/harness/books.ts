/** Reads the books of a folder. */
import { existsSync, readFileSync } from 'node:fs'
import type { OperatorCtx } from '../../lib/app/ctx.js'
import { contentOf } from '../../lib/orders/sealed-content.js'
import { ChainReader, isFault, journalSealer } from '../../lib/orders/journal/chain.js'
import type { ReadLine } from '../../lib/orders/journal/chain.js'
import { journalPath } from '../../lib/orders/journal/file.js'
import type { Books } from './invariants.js'

export async function readBooks(ctx: OperatorCtx): Promise<Books> {
  const { read } = ctx
  const reader = new ChainReader(journalSealer(ctx))
  const lines = (await read.selectFrom('journal').select('line').orderBy('seq').execute()).map(
    ({ line }) => line,
  )
  const journal: ReadLine[] = []
  let chainFault: string | null = null
  for (const text of lines) {
    const line = reader.next(text)
    if (isFault(line)) {
      chainFault = `line ${line.seq}: ${line.fault}`
      break
    }
    journal.push(line)
  }
  const path = journalPath(ctx.engine.dir)
  return {
    placements: await read.selectFrom('placement').selectAll().orderBy('id').execute(),
    records: await read.selectFrom('fulfillment_order').selectAll().orderBy('id').execute(),
    purchaseOrders: (
      await read.selectFrom('purchase_order').selectAll().orderBy('id').execute()
    ).map((row) => ({ ...row, content: contentOf(ctx, row) })),
    failures: await read.selectFrom('failed_placement').selectAll().execute(),
    counts: await read.selectFrom('order_count').selectAll().execute(),
    journal,
    chainFault,
    lines,
    file: existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [],
  }
}
