/** Settings that several distributors have, worded alike. */
import type { Setting } from '../distributor.js'

/** A user name, an account or customer number. */
export const account = (label: string, path: string): Setting => ({
  type: 'string',
  label,
  path,
  required: true,
  credential: true,
})
/** An account number of digits. */
export const number = (label: string, path: string): Setting => ({
  ...account(label, path),
  form: 'text_or_number',
})
export const secret = (label: string, path: string): Setting => ({
  ...account(label, path),
  secret: true,
})
export const optional = (setting: Setting): Setting => ({ ...setting, required: false })
export const emails = (path: string): Setting => ({
  type: 'array',
  label: 'E-mail addresses that FFL copies go to',
  path,
  required: true,
  form: 'email',
  helperText: "The distributor's own address for license copies, and yours",
})
