/** Who is served by a simulated distributor: who gives the demo's credentials. */
import { isBlank, isCredential } from '../../distributors/distributor.js'
import type { CheckOutcome, Distributor } from '../../distributors/distributor.js'

/** Every credential that is given must be the demo's, and the required ones must be given. */
export function checkCredentials(
  settings: Distributor['settings'],
  known: Readonly<Record<string, string>>,
  given: Readonly<Record<string, unknown>>,
): CheckOutcome {
  const fits = Object.entries(settings)
    .filter(([, setting]) => isCredential(setting))
    .every(([name, { required }]) =>
      isBlank(given[name]) ? required !== true : String(given[name]) === known[name],
    )
  return fits ? 'valid' : 'invalid'
}
