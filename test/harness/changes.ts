/**
 * What people change while orders are open: as whom a shop logs in at a distributor, and where a
 * dealer is.
 */
import type { Subscriber } from '../../lib/accounts/caller.js'
import { saveDocument } from '../../lib/configuration/saved-documents.js'
import { DEALER } from '../orders/shop.js'
import type { Rng } from './random.js'
import { NAMES } from './shop.js'
import type { Shop } from './shop.js'

const PREMISES = [
  { premise_street: '400 E Van Buren St', premise_city: 'PHOENIX', premise_zip: '85004' },
  { premise_street: '9 New Place', premise_city: 'TUCSON', premise_zip: '85701' },
] as const

export class Changes {
  /** The account's name at the distributor, by what the books have of it. */
  readonly accounts = new Map<string, string>()
  readonly #subscribers: Subscriber[]
  #premise: (typeof PREMISES)[number] = PREMISES[0]

  private constructor(
    readonly rng: Rng,
    readonly shop: Shop,
    readonly trace: (text: () => string) => void,
  ) {
    this.#subscribers = [
      ...new Map(shop.callers.map(({ subscriber }) => [subscriber.id, subscriber])).values(),
    ]
  }

  static async open(rng: Rng, shop: Shop, trace: (text: () => string) => void): Promise<Changes> {
    const changes = new Changes(rng, shop, trace)
    for (const subscriber of changes.#subscribers)
      for (const distid of Object.keys(NAMES))
        changes.#learn(distid, await changes.#loginOf(subscriber, distid))
    return changes
  }

  /** The ZIP to which firearms may go. */
  get zip(): string {
    return this.#premise.premise_zip
  }

  /**
   * Between two processes: of an order that is on its way it could not be said to where it ought to
   * go.
   */
  async moveDealer(): Promise<void> {
    this.#premise = PREMISES.find((each) => each !== this.#premise)!
    this.trace(() => `DEALER moves to ${this.zip}`)
    await this.shop.app.ctx.db
      .updateTable('dealer')
      .set(this.#premise)
      .where('license_number', '=', DEALER)
      .execute()
  }

  /** A shop goes to its other account at a distributor, or back. */
  async logIn(): Promise<void> {
    const subscriber = this.rng.pick(this.#subscribers)
    const distid = this.rng.pick(Object.keys(NAMES))
    const { ctx, operator } = this.shop.app
    const { document } = await ctx.configurations.of(subscriber)
    const name = NAMES[distid]!
    const before = await this.#loginOf(subscriber, distid)
    const account = before.endsWith(' 2') ? before.slice(0, -2) : `${before} 2`
    const entry = { ...document.distributors[name]!, account }
    this.#learn(distid, account)
    this.trace(() => `LOGIN of ${subscriber.name} at ${distid} is ${account}`)
    await saveDocument(ctx, subscriber, {
      document: { ...document, distributors: { ...document.distributors, [name]: entry } },
    })
    await operator.configurations.recordCheck(subscriber.id, name, true)
  }

  async #loginOf(subscriber: Subscriber, distid: string): Promise<string> {
    const { document } = await this.shop.app.ctx.configurations.of(subscriber)
    const entry: object = document.distributors[NAMES[distid]!]!
    return String((entry as { account?: unknown }).account)
  }

  /** As the books have it: by who logs in. */
  #learn(distid: string, account: string): void {
    this.accounts.set(
      this.shop.app.ctx.secrets
        .of('operator')
        .fingerprint(JSON.stringify([distid, 'simulator', [['account', account]]])),
      account,
    )
  }
}
