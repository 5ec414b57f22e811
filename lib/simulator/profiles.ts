/** The distributors that a simulator plays. */
import { simulated } from '../distributors/builtin/index.js'
import type { Profile } from './engine/world.js'

/** How each that takes orders is played, by distid. */
export const profiles: ReadonlyMap<string, Profile> = new Map(
  [...simulated].flatMap(([distid, { distributor, simulator }]) =>
    simulator.orders
      ? [
          [
            distid,
            {
              ...simulator.orders,
              distid,
              settings: distributor.settings,
              credentials: simulator.credentials,
            },
          ],
        ]
      : [],
  ),
)

/** The distids of the distributors that take orders in the simulator. */
export const SIMULATED = [...profiles.keys()]

/** How a distributor's orders are played; undefined for one whose are not. */
export function profileOf(distid: string): Profile | undefined {
  return profiles.get(distid)
}

/** The settings that a simulated distributor takes. */
export function demoSettings(distid: string): Record<string, string> {
  return { ...simulated.get(distid)?.simulator.credentials }
}

/** The demo's value of a setting, for the demo's own document. */
export function demoCredential(distid: string, setting: string): string {
  const value = demoSettings(distid)[setting]
  if (value === undefined) throw new Error(`the demo's ${distid} has no ${setting}`)
  return value
}
