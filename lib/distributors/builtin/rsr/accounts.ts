/** RSR's settings as its connectors read them: two accounts, and how each takes orders. */
import type { Login } from './api.js'
import { NoReply, textOf } from '../../session/reply.js'

/** The settings that these connectors read. */
export interface RsrSettings {
  readonly api_user?: unknown
  readonly api_password?: unknown
  readonly ftp_password?: unknown
  readonly store_account?: unknown
  readonly store_password?: unknown
  readonly store_ftp_password?: unknown
  readonly orders_by?: unknown
  readonly order_email?: unknown
  readonly quantity_field?: unknown
}

/** An account with the password of its API and that of its files; null where none is set. */
export interface Account extends Login {
  readonly filePassword: string | null
}

/** The drop-ship account, then the main one where it is set. */
export function accountsOf(settings: RsrSettings): Account[] {
  const byFiles = isByFiles(settings)
  const account = (user: unknown, password: unknown, files: unknown): Account[] => {
    const [name, secret] = [textOf(user), textOf(password)]
    return name === null || secret === null
      ? []
      : [
          {
            user: name,
            password: secret,
            // A shop that has files alone has one password.
            filePassword: textOf(files) ?? (byFiles ? secret : null),
          },
        ]
  }
  return [
    ...account(settings.api_user, settings.api_password, settings.ftp_password),
    ...account(settings.store_account, settings.store_password, settings.store_ftp_password),
  ]
}

/**
 * The account that an order goes out with: a shop with one account orders to its store with that.
 * Throws a NoReply where there is none.
 */
export function accountFor(
  settings: RsrSettings,
  { shipToStore }: { shipToStore: boolean },
): Account {
  const [dropShip, main] = accountsOf(settings)
  if (!dropShip) throw new NoReply('the credentials are not configured', { mayHaveArrived: false })
  return (shipToStore ? main : undefined) ?? dropShip
}

/** Orders go out as files, not by the API. */
export const isByFiles = ({ orders_by }: RsrSettings): boolean => orders_by === 'files'
