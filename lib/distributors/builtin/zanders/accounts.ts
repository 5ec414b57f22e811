/** Zanders' settings as its connector reads them: an account for each kind of order, and files. */
import type { OpenOrder, PurchaseOrder } from '../../fulfillment.js'
import { NoReply, textOf } from '../../session/reply.js'

/** The settings that this connector reads. */
export interface ZandersSettings {
  readonly accessories_user?: unknown
  readonly accessories_password?: unknown
  readonly firearms_user?: unknown
  readonly firearms_password?: unknown
  readonly store_user?: unknown
  readonly store_password?: unknown
  readonly ftp_user?: unknown
  readonly ftp_password?: unknown
  readonly ftp_folder?: unknown
  readonly ffl_recipient_emails?: unknown
}

export type Kind = 'accessories' | 'firearms' | 'store'

export interface Login {
  readonly kind: Kind
  readonly user: string
  readonly password: string
}

/** How each account ships: as public clients send it. */
export const SHIP_VIA: Readonly<Record<Kind, string>> = {
  accessories: 'UM',
  firearms: 'UG',
  store: 'BW',
}

/** The part of a plan that holds what goes to a dealer only. */
export const FIREARMS = 'firearms'

/** Every account that is set. */
export function loginsOf(settings: ZandersSettings): Login[] {
  const login = (kind: Kind, user: unknown, password: unknown): Login[] => {
    const [name, secret] = [textOf(user), textOf(password)]
    return name === null || secret === null ? [] : [{ kind, user: name, password: secret }]
  }
  return [
    ...login('accessories', settings.accessories_user, settings.accessories_password),
    ...login('firearms', settings.firearms_user, settings.firearms_password),
    ...login('store', settings.store_user, settings.store_password),
  ]
}

/**
 * The account that an order goes out with, and that is asked for it: a shop without a main account
 * orders to its store with that of the items. Throws a NoReply where there is none.
 */
export function loginFor(
  settings: ZandersSettings,
  { shipToStore, lane }: Pick<OpenOrder, 'shipToStore' | 'lane'>,
): Login {
  const logins = loginsOf(settings)
  const named = (kind: Kind) => logins.find((login) => login.kind === kind)
  const login =
    (shipToStore ? named('store') : undefined) ??
    named(lane === FIREARMS ? 'firearms' : 'accessories')
  if (!login) throw new NoReply('the credentials are not configured', { mayHaveArrived: false })
  return login
}

/** The part that an order is: as its plan names it, or by what is in it. */
export const laneOf = ({ lines }: Pick<PurchaseOrder, 'lines'>): Kind =>
  lines.some(({ fflRequired }) => fflRequired) ? 'firearms' : 'accessories'
