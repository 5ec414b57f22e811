/** A shop whose feeds come with its own accounts, at simulators that have 600 offers each. */
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { MINUTE } from '../../lib/core/clock.js'
import { simulated } from '../../lib/distributors/builtin/index.js'
import {
  demoFeedDir,
  demoFeedFile,
  writeDemoFeeds,
  writeOtherFeeds,
} from '../../lib/simulator/demo/feeds.js'
import { createTestApp } from '../../server/testing/index.js'
import type { TestApp } from '../../server/testing/index.js'

export const NAMES: Readonly<Record<string, string>> = {
  RSR: 'RSR Group',
  LIP: 'Lipseys',
  CSSI: 'Chattanooga Shooting Supplies',
  TSW: 'Sports South',
  '2AW': '2nd Amendment Wholesale',
  BILL: 'Bill Hicks',
  ZND: 'Zanders',
  ORI: 'Orion Wholesale',
  HIX: 'Hicks Inc.',
}

/** An entry with the demo's credentials, and these instead where they are given. */
function entryOf(distid: string, instead: Record<string, unknown> = {}) {
  const { distributor, simulator } = simulated.get(distid)!
  const entry: Record<string, unknown> = {
    distid,
    active: true,
    drop_ship_only_items: false,
    shipping: { flat_rate: { cost: 10, shipping_class: 'flat' } },
    product_restrictions: {},
  }
  for (const [name, value] of Object.entries({ ...simulator.credentials, ...instead })) {
    const path = distributor.settings[name]!.path.split('-')
    const leaf = path.pop()!
    let at = entry
    for (const step of path) at = (at[step] ??= {}) as Record<string, unknown>
    at[leaf] = value
  }
  return entry as never
}

export interface AccountRig extends TestApp {
  save1(distid: string, instead?: Record<string, unknown>, more?: object): Promise<void>
  /** Pulls the sources of a distributor: outcome, and the reasons of the first. */
  pull(distid: string): Promise<{ outcome: string; reasons: string[]; offers: number }>
  status(id: string): Promise<{ not_before: string | null; last_outcome: string | null }>
  set(distid: string, more?: { preset?: string; every?: number }): Promise<void>
}

export async function accountRig(run: (t: AccountRig) => Promise<void>): Promise<void> {
  const t = await createTestApp()
  const dir = demoFeedDir(t.app.dir)
  await writeDemoFeeds(dir, { asOf: t.clock.ms, offers: 600 })
  await writeOtherFeeds(dir, { asOf: t.clock.ms, offers: 600 })
  for (const distid of Object.keys(NAMES)) age(t, distid, 120)
  try {
    await run({
      ...t,
      save1: (distid, instead, more = {}) =>
        t.save(t.subscriber, {
          targets: {},
          notification_email: 'owner@shop.example',
          pricing: {},
          product_restrictions: {},
          distributors: {
            [NAMES[distid]!]: { ...(entryOf(distid, instead) as object), ...more } as never,
          },
        }),
      async pull(distid) {
        const [result] = await t.app.operator.feeds.pull({ distid })
        return { offers: 0, ...result! }
      },
      async status(id) {
        const all = await t.app.operator.feeds.status()
        return all.find(({ source }) => source.startsWith(id))!
      },
      set: async (distid, more = {}) =>
        void (await t.app.operator.feeds.set({
          distid,
          location: 'account',
          subscriber: t.subscriber,
          ...more,
        })),
    })
  } finally {
    await t.close()
  }
}

/** Dates the file of a simulator so many minutes before the clock of the test. */
export function age(
  { app, clock }: Pick<TestApp, 'app' | 'clock'>,
  distid: string,
  minutes: number,
) {
  const at = (clock.ms - minutes * MINUTE) / 1_000
  utimesSync(demoFeedFile(app.dir, distid)!, at, at)
}

/** Changes the file of a simulator. */
export function edit(t: TestApp, distid: string, change: (lines: string[]) => string[]): void {
  const file = demoFeedFile(t.app.dir, distid)!
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `${change(text.split('\r\n').slice(0, -1)).join('\r\n')}\r\n`)
}
