/** The connector type: what the program knows of one distributor. Capabilities are added by presence. */

/** One setting of a distributor (contract "Distributor registry entry"). */
export interface Setting {
  type: 'string' | 'number' | 'boolean' | 'array' | 'state-selector'
  label: string
  helperText?: string
  /** Dash-delimited path into the distributor's entry of the configuration document. */
  path: string
  required?: boolean
  /** Sealed at rest and masked when read back; always a credential. */
  secret?: boolean
  /** Part of what a distributor checks: a change withdraws the validation. */
  credential?: boolean
}

export interface Distributor {
  /** The short code, always a string. */
  readonly distid: string
  /** Its key in the configuration document. */
  readonly name: string
  readonly automatedFulfillment: boolean
  readonly settings: Readonly<Record<string, Setting>>
}

export function defineDistributor(distributor: Distributor): Distributor {
  for (const [name, setting] of Object.entries(distributor.settings)) {
    if (setting.path.split('-').some((segment) => segment === '')) throw new Error(`${distributor.distid}: setting ${name} has an empty path segment`)
  }
  return distributor
}
