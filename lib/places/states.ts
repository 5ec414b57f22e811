/** States, territories and military mail, by their two letters. */
export const STATES = {
  AL: 'Alabama',
  AK: 'Alaska',
  AZ: 'Arizona',
  AR: 'Arkansas',
  CA: 'California',
  CO: 'Colorado',
  CT: 'Connecticut',
  DE: 'Delaware',
  DC: 'District of Columbia',
  FL: 'Florida',
  GA: 'Georgia',
  HI: 'Hawaii',
  ID: 'Idaho',
  IL: 'Illinois',
  IN: 'Indiana',
  IA: 'Iowa',
  KS: 'Kansas',
  KY: 'Kentucky',
  LA: 'Louisiana',
  ME: 'Maine',
  MD: 'Maryland',
  MA: 'Massachusetts',
  MI: 'Michigan',
  MN: 'Minnesota',
  MS: 'Mississippi',
  MO: 'Missouri',
  MT: 'Montana',
  NE: 'Nebraska',
  NV: 'Nevada',
  NH: 'New Hampshire',
  NJ: 'New Jersey',
  NM: 'New Mexico',
  NY: 'New York',
  NC: 'North Carolina',
  ND: 'North Dakota',
  OH: 'Ohio',
  OK: 'Oklahoma',
  OR: 'Oregon',
  PA: 'Pennsylvania',
  RI: 'Rhode Island',
  SC: 'South Carolina',
  SD: 'South Dakota',
  TN: 'Tennessee',
  TX: 'Texas',
  UT: 'Utah',
  VT: 'Vermont',
  VA: 'Virginia',
  WA: 'Washington',
  WV: 'West Virginia',
  WI: 'Wisconsin',
  WY: 'Wyoming',
  PR: 'Puerto Rico',
  VI: 'U.S. Virgin Islands',
  GU: 'Guam',
  AS: 'American Samoa',
  MP: 'Northern Mariana Islands',
  FM: 'Micronesia',
  MH: 'Marshall Islands',
  PW: 'Palau',
  AA: 'Armed Forces Americas',
  AE: 'Armed Forces Europe',
  AP: 'Armed Forces Pacific',
} as const

export type StateCode = keyof typeof STATES

const TERRITORIES = new Set<string>(['PR', 'VI', 'GU', 'AS', 'MP', 'FM', 'MH', 'PW'])
const MILITARY = new Set<string>(['AA', 'AE', 'AP'])
const byName = new Map(
  Object.entries(STATES).map(([code, name]) => [name.toLowerCase(), code as StateCode]),
)

/** The code of a state that is given by code or by name, case aside; null for anything else. */
export function stateCode(text: string): StateCode | null {
  const trimmed = text.trim()
  const upper = trimmed.toUpperCase()
  return Object.hasOwn(STATES, upper)
    ? (upper as StateCode)
    : (byName.get(trimmed.toLowerCase()) ?? null)
}

export const isTerritory = (state: string): boolean => TERRITORIES.has(state)
export const isMilitary = (state: string): boolean => MILITARY.has(state)
