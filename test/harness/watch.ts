/**
 * Looks over everybody's shoulder while a simulation runs: what can be seen to be wrong at once is,
 * with the trace still fresh.
 */
import type { OperatorCtx } from '../../lib/app/ctx.js'
import type { Statement } from '../../lib/db/sqlite/sqlite.js'
import type { PurchaseOrder } from '../../lib/distributors/fulfillment.js'
import { digestOf } from '../../lib/orders/sealed-content.js'
import { UNAVAILABLE } from './callers.js'
import type { Changes } from './changes.js'
import type { Violation } from './invariants.js'
import type { Life } from './life.js'
import type { Execution, Nature, Process, Witness } from './world.js'

interface Row {
  id: number
  client_ref: string
  distid: string
  state: string
  sends: number
  owner: string | null
  payload_digest: string
  account: string | null
  ever_unknown: number
  distributor_order_id: string | null
}

const OVER: readonly string[] = ['placed', 'rejected', 'expired']

export class Watch implements Witness {
  readonly violations: Violation[] = []
  /** The disk has the journal's file up to this line. */
  synced = 0
  readonly #executed = new Map<string, Execution[]>()
  readonly #numbers = new Map<string, Execution>()
  /** With which account each order was sent last. */
  readonly #sentWith = new Map<string, string>()
  readonly #misshown = new Set<string>()
  /** Orders that a person has settled. */
  readonly decided = new Set<string>()
  changes: Changes | null = null
  /** Purchase orders that may still change. */
  readonly #unfinished = new Set<number>()
  #last = 0
  #byRef!: Statement
  #unwritten!: Statement
  #recent!: Statement
  #paused!: Statement

  constructor(
    readonly natures: ReadonlyMap<string, Nature>,
    readonly outcomesOnly: boolean,
    readonly trace: (text: () => string) => void,
  ) {}

  attach({ engine }: Pick<OperatorCtx, 'engine'>): void {
    this.#byRef = engine.reader.raw.prepare(
      'SELECT id, client_ref, distid, state, sends, owner, payload_digest, account, ' +
        'ever_unknown, distributor_order_id FROM purchase_order WHERE client_ref = ?',
    )
    this.#unwritten = engine.reader.raw
      .prepare('SELECT seq FROM journal WHERE seq > ? AND instr(line, ?) > 0')
      .pluck()
    this.#paused = engine.reader.raw
      .prepare("SELECT value FROM order_engine WHERE name = 'paused'")
      .pluck()
    this.#recent = engine.reader.raw.prepare(
      'SELECT id, client_ref, distid, state, sends, owner, payload_digest, account, ' +
        'ever_unknown, distributor_order_id FROM purchase_order WHERE id > ? OR id IN (SELECT ' +
        'value FROM json_each(?))',
    )
  }

  /** Orders that go on by themselves. */
  moving = 0

  report(rule: Violation['rule'], detail: string): void {
    this.trace(() => `WRONG: ${rule}: ${detail}`)
    this.violations.push({ rule, detail })
  }

  /** A send begins: the disk must know of it, with what is sent. */
  sent({ distid }: Nature, order: PurchaseOrder, process: Process, account: string): void {
    if (process.isDead) return
    const row = this.#byRef.get(order.clientRef) as Row | undefined
    this.#checkPlace(distid, order, row, account)
    if (this.outcomesOnly) return
    const {
      sender: { owner },
    } = process as Life
    if (row?.state !== 'sending' || row.owner !== owner)
      this.report(
        'sent before it was written',
        `${distid} hears ${order.clientRef}, which the database has as ${row?.state}`,
      )
    else if (digestOf(JSON.stringify(order)) !== row.payload_digest)
      this.report('content', `${order.clientRef} is sent with another content than was frozen`)
    const line = this.#unwritten.get(this.synced, order.clientRef) as number | undefined
    if (line !== undefined)
      this.report(
        'sent before the journal',
        `${distid} hears ${order.clientRef}, and line ${line} of the journal is not on the disk`,
      )
  }

  /** It goes with one account, and to where its dealer is. */
  #checkPlace(
    distid: string,
    { clientRef: ref, fflRequired, shipToStore, shipTo }: PurchaseOrder,
    row: Row | undefined,
    account: string,
  ): void {
    const { changes } = this
    if (!changes) return
    const before = this.#sentWith.get(ref)
    const known = changes.accounts.get(row?.account ?? '')
    if (row?.ever_unknown === 1 && before !== undefined && before !== account)
      this.report(
        'account',
        `${distid} hears ${ref} of ${account}, and what became of it as ${before}'s is not known`,
      )
    if (known !== account)
      this.report(
        'account',
        `${distid} hears ${ref} of ${account}, and the books have it as ${known}'s`,
      )
    this.#sentWith.set(ref, account)
    if (fflRequired && !shipToStore && shipTo.zip !== changes.zip)
      this.report(
        'premise',
        `${distid} hears that ${ref} goes to ${shipTo.zip}, and the dealer is at ${changes.zip}`,
      )
  }

  /** Then it may go with another account, unless an earlier send has left its outcome open. */
  notSent(clientRef: string): void {
    const row = this.#byRef.get(clientRef) as Row | undefined
    if (row?.ever_unknown === 0) this.#sentWith.delete(clientRef)
  }

  misshown(clientRef: string): void {
    this.#misshown.add(clientRef)
  }

  executed(execution: Execution): void {
    const { distid, clientRef, number } = execution
    const before = this.#executed.get(clientRef)
    this.#numbers.set(`${distid} ${number}`, execution)
    if (!before) return void this.#executed.set(clientRef, [execution])
    before.push(execution)
    // Where two orders look alike, one may be taken for the other: they are counted in the end.
    if (this.#isExact(distid))
      this.report(
        'double',
        `${distid} has ${clientRef} as ${before.map((each) => each.number).join(' and ')}`,
      )
  }

  #isExact(distid: string): boolean {
    const { tells, hasFind } = this.natures.get(distid)!
    return tells.ref || !hasFind
  }

  /** A process ended: whatever is over by now must be true. */
  look(): void {
    const pause = this.#paused.get() as string | undefined
    if (pause !== undefined) this.report('paused', pause)
    this.moving = 0
    for (const row of this.#recent.all(
      this.#last,
      JSON.stringify([...this.#unfinished]),
    ) as Row[]) {
      this.#last = Math.max(this.#last, row.id)
      if (['planned', 'sending', 'unknown'].includes(row.state)) this.moving++
      if (OVER.includes(row.state)) this.#unfinished.delete(row.id)
      else this.#unfinished.add(row.id)
      const executed = this.#executed.get(row.client_ref) ?? []
      if (
        (row.state === 'rejected' || row.state === 'expired') &&
        executed.length > 0 &&
        this.#isExact(row.distid)
      )
        this.report(
          'refused but executed',
          `${row.client_ref} is ${row.state}, and ${row.distid} has it as ${executed[0]!.number}`,
        )
      if (row.state === 'placed') this.#checkPlaced(row, executed)
    }
  }

  #checkPlaced(
    { client_ref: ref, distid, distributor_order_id: number }: Row,
    executed: readonly Execution[],
  ): void {
    if (number !== null && !this.#numbers.has(`${distid} ${number}`))
      this.report('lost', `${ref} is placed as ${number}, which ${distid} does not have`)
    if (this.#misshown.has(ref) && !this.decided.has(ref))
      this.report('content', `${ref} is placed, and ${distid} shows it to go elsewhere`)
    if (this.#isExact(distid) && executed.length === 0)
      this.report('lost', `${ref} is placed, and ${distid} does not have it`)
    if (
      this.#isExact(distid) &&
      number !== null &&
      executed.length > 0 &&
      executed[0]!.number !== number
    )
      this.report('number', `${ref} is placed as ${number}, and is ${executed[0]!.number}`)
  }

  /** Work of the sender failed. */
  failed(error: unknown, life: Life): void {
    if (
      life.isDead ||
      life.fatal !== null ||
      (error instanceof Error && error.message === 'closed')
    )
      return
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!UNAVAILABLE.test(code))
      this.report('error', error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
}
