/** Simulated distributors behind the connector type (decisions 8.11). */
import type { Distributor } from '../../distributors/distributor.js'
import { CREDENTIALS, checkAgainst } from './credentials.js'
import type { Simulators } from './simulators.js'

/** The distributor with its simulator in place; what it can do by itself stays as it is. */
export function standIn(
  distributor: Distributor,
  simulators: Pick<Simulators, 'fulfillmentOf'>,
): Distributor {
  const simulator = distributor.simulator ?? simulators.fulfillmentOf(distributor.distid)
  const played = simulator ? { ...distributor, simulator } : distributor
  const known = CREDENTIALS[distributor.distid]
  if (!known || distributor.check) return played
  return {
    ...played,
    simulated: true,
    check: async (session) => checkAgainst(distributor, known, session),
  }
}
