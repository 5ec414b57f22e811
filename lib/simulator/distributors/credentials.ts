/** The demo's credentials, which simulated distributors take, and no others (decisions 8.11). */
import type { Session } from '../../distributors/session.js'
import type { CheckOutcome, Distributor } from '../../distributors/distributor.js'
import { isBlank, isCredential } from '../../distributors/distributor.js'
import { builtin } from '../../distributors/index.js'

/** Values of the credential settings that the simulators know, by distid. */
export const CREDENTIALS: Record<string, Record<string, string>> = {
  RSR: {
    api_user: '99901',
    api_password: 'demo-rsr',
    store_account: '99902',
    store_password: 'demo-rsr-store',
  },
  LIP: {
    api_user: 'demo@demo-shop.example',
    api_password: 'demo-lipseys',
    store_user: 'store@demo-shop.example',
    store_password: 'demo-lipseys-store',
  },
  CSSI: { api_sid: 'DEMO-SID', api_token: 'demo-chattanooga' },
  TSW: { api_user: '99904', api_customer_number: '99905', api_password: 'demo-sports-south' },
  ZND: {
    accessories_user: 'demo-accessories',
    accessories_password: 'demo-zanders-accessories',
    firearms_user: 'demo-firearms',
    firearms_password: 'demo-zanders-firearms',
    store_user: 'demo-store',
    store_password: 'demo-zanders-store',
  },
  '2AW': { api_token: 'demo-2aw' },
  BILL: { customer_number: 'DEMO-BILL' },
  AMC: { api_key: 'demo-amchar' },
  CAM4: { feed_api_key: 'demo-camfour' },
}

/** Whether a simulated distributor would serve who has these settings. */
export function takesCredentials(distid: string, settings: Session['settings']): boolean {
  const distributor = builtin.find((candidate) => candidate.distid === distid)
  const known = CREDENTIALS[distid]
  return (
    distributor !== undefined &&
    known !== undefined &&
    checkAgainst(distributor, known, { settings }) === 'valid'
  )
}

/** Every credential that is given must be the demo's, and the required ones must be given. */
export function checkAgainst(
  distributor: Distributor,
  known: Record<string, string>,
  { settings }: Pick<Session, 'settings'>,
): CheckOutcome {
  const credentials = Object.entries(distributor.settings).filter(([, setting]) =>
    isCredential(setting),
  )
  const fits = credentials.every(([name, { required }]) =>
    isBlank(settings[name]) ? required !== true : String(settings[name]) === known[name],
  )
  return fits ? 'valid' : 'invalid'
}

/** The settings that a simulated distributor takes. */
export function demoSettings(distid: string): Record<string, string> {
  return { ...CREDENTIALS[distid] }
}

/** The demo's value of a setting, for the demo's own document. */
export function demoCredential(distid: string, setting: string): string {
  return CREDENTIALS[distid]![setting]!
}
