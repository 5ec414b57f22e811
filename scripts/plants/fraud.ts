/** Bugs of the shared fraud signals. */
import type * as Email from '../../lib/fraud/signals/email.js'
import type * as Phone from '../../lib/fraud/signals/phone.js'
import type * as Premises from '../../lib/fraud/reports/premises.js'
import type * as Quota from '../../lib/fraud/reports/quota.js'
import type * as Signals from '../../lib/fraud/signals/signals.js'
import type * as Store from '../../lib/fraud/reports/store.js'
import type * as Summary from '../../lib/fraud/reports/summary.js'
import type { Plant } from './seam.js'

export const FRAUD: readonly Plant[] = [
  {
    name: 'dots tell mailboxes of Gmail apart',
    suites: ['fraud/signals/email', 'fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/signals/email.ts#normalizeEmail',
        make:
          (real: typeof Email.normalizeEmail): typeof real =>
          (text) =>
            real(text) && text.trim().toLowerCase(),
      },
    ],
  },
  {
    name: 'an extension tells nobody apart',
    suites: ['fraud/signals/phone', 'fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/signals/phone.ts#normalizePhone',
        make:
          (real: typeof Phone.normalizePhone): typeof real =>
          (text, country) =>
            real(text, country)?.replace(/x\d+$/, '') ?? null,
      },
    ],
  },
  {
    name: 'a shipment to a dealer is matched by its address',
    suites: ['fraud/fraud', 'fraud/premises'],
    seams: [
      {
        at: 'lib/fraud/reports/premises.ts#withoutPremises',
        make: (real: typeof Premises.withoutPremises): typeof real =>
          function* (body, signals) {
            yield* real(body, signals)
            return signals
          },
      },
    ],
  },
  {
    name: 'a billing address meets reported shipping addresses',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/signals/signals.ts#signalsOf',
        make:
          (real: typeof Signals.signalsOf): typeof real =>
          (body) => {
            const signals = real(body)
            const billing = signals.strong.get('billing_address_1')
            if (billing !== undefined && !signals.strong.has('shipping_address_1'))
              signals.strong.set('shipping_address_1', billing)
            return signals
          },
      },
    ],
  },
  {
    name: 'every report of a dealer is a new one',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/reports/store.ts#saveReport',
        make:
          (real: typeof Store.saveReport): typeof real =>
          async (tx, report) => {
            await real(tx, report)
            await tx.db
              .updateTable('fraud_report')
              .set(({ ref, fn }) => ({ strong: fn<string>('concat', [ref('strong'), ref('id')]) }))
              .execute()
          },
      },
    ],
  },
  {
    name: 'a removal takes every report with one of the signals',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/reports/store.ts#ownReports',
        make:
          (real: typeof Store.ownReports): typeof real =>
          async (tx, subscriber, signals) => {
            const each = await Promise.all(
              [...signals.strong].map((one) =>
                real(tx, subscriber, { ...signals, strong: new Map([one]) }),
              ),
            )
            return [...new Set(each.flat())]
          },
      },
    ],
  },
  {
    name: "a removal takes other dealers' reports",
    suites: ['fraud/fraud', 'fraud/privacy'],
    seams: [
      {
        at: 'lib/fraud/reports/store.ts#ownReports',
        make:
          (real: typeof Store.ownReports): typeof real =>
          async (tx, _subscriber, signals) => {
            const all = await tx.db.selectFrom('subscriber').select('id').execute()
            return (await Promise.all(all.map(({ id }) => real(tx, id, signals)))).flat()
          },
      },
    ],
  },
  {
    name: 'reports are counted, and not dealers',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/reports/summary.ts#summarize',
        make:
          (real: typeof Summary.summarize): typeof real =>
          async (ctx, signals, asker) => {
            const summary = await real(ctx, signals, asker)
            const { reports } = ctx.engine.reader.raw
              .prepare('SELECT count(*) AS reports FROM fraud_report')
              .get() as { reports: number }
            return summary.matched ? { ...summary, report_count: reports } : summary
          },
      },
    ],
  },
  {
    name: 'removals are not counted',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/reports/quota.ts#countUse',
        make:
          (real: typeof Quota.countUse): typeof real =>
          async (tx, use, key) =>
            use === 'removal' ? undefined : real(tx, use, key),
      },
    ],
  },
  {
    name: 'checks are not counted',
    suites: ['fraud/fraud'],
    seams: [
      {
        at: 'lib/fraud/reports/quota.ts#countCheck',
        make: (): typeof Quota.countCheck => async () => {},
      },
    ],
  },
]
