/** Counties by FIPS code (data/places, made by scripts/data/places.mjs). */
import facts from '../../data/places/counties.json' with { type: 'json' }
import { countyName } from './names.js'

export interface County {
  readonly fips: string
  readonly state: string
  readonly name: string
}

let byFips: Map<string, County> | undefined
let byName: Map<string, County[]> | undefined

function all(): Map<string, County> {
  return (byFips ??= new Map(
    (facts as [string, string, string][]).map(([fips, state, name]) => [
      fips,
      { fips, state, name },
    ]),
  ))
}

export function countyOf(fips: string): County | undefined {
  return all().get(fips)
}

/** Blanks aside: `De Kalb` is `DeKalb`. */
const keyOf = (state: string, name: string) => `${state} ${name.replaceAll(' ', '')}`

/**
 * The counties of a state that a name fits; several where a city and a county share it, none where
 * it is unknown.
 */
export function findCounties(state: string, name: string): readonly County[] {
  if (!byName) {
    byName = new Map()
    for (const county of all().values()) {
      const key = keyOf(county.state, countyName(county.name))
      byName.set(key, [...(byName.get(key) ?? []), county])
    }
  }
  const wanted = countyName(name)
  const found = byName.get(keyOf(state, wanted)) ?? []
  const city = byName.get(keyOf(state, `${wanted} city`)) ?? []
  // "Baltimore" may be the county or the independent city; "Baltimore County" says which.
  return / county$/i.test(name.trim()) && found.length > 0 ? found : [...found, ...city]
}
