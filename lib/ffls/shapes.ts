/** Shapes of the FFL directory (contract "FFL dealer record", "FFL directory"). */
import * as z from 'zod'

const flag = z.union([z.literal(0), z.literal(1)])
const text = z.string().nullable()

/** A dealer as the list shows it. */
export const Dealer = z.object({
  license_number: z.string(),
  list_name: z.string().describe('Business name, else licence name'),
  business_name: text,
  license_name: z.string(),
  premise_street: z.string(),
  premise_city: z.string(),
  premise_state: z.string(),
  premise_zip_code: z.string(),
  voice_phone: text,
  email: text,
  lat: z.number().nullable().describe('Of the ZIP area, degrees'),
  lng: z.number().nullable(),
  ffl_on_file: flag.describe('1 = licence on file with the network'),
  sot_on_file: flag.describe('1 = NFA-capable'),
  expiration_date: z.string().describe('YYYY-MM-DD, valid through that day'),
  active: flag,
})
export type Dealer = z.infer<typeof Dealer>

/** A dealer as the lookup shows it. */
export const FullDealer = Dealer.extend({
  transfer_fee_longgun: z.number().nullable().describe('Dollars'),
  transfer_fee_handgun: z.number().nullable().describe('Dollars'),
  residential: flag.describe('1 = home-based'),
  contact_required: flag.describe('1 = call before shipping'),
  mail_street: text,
  mail_city: text,
  mail_state: text,
  mail_zip_code: text,
})
export type FullDealer = z.infer<typeof FullDealer>

export const NearQuery = z.object({
  zip: z.string().regex(/^\d{5}$/, 'must be 5 digits'),
  radius: z.int().min(1).max(50).default(15).describe('Miles'),
  name: z.string().max(60).regex(/^[\p{L}\p{N} '&.-]*$/u, 'must be letters, digits, spaces and \' & . -').optional().describe('Part of the business or licence name'),
})
export type NearQuery = z.output<typeof NearQuery>
export const NearResult = z.object({ count: z.int(), ffls: z.array(Dealer).max(150) })

/** The form is checked by the endpoint, which tells what a licence number is. */
export const LicenceParams = z.object({ license_number: z.string().regex(/^[0-9A-Za-z-]{10,25}$/, 'must be 10 to 25 digits, letters and dashes; segments may be masked with X') })

export const DocumentParams = LicenceParams.extend({ document_type: z.enum(['ffl', 'sot']) })
export const DocumentResult = z.object({ associated_order_id: z.string(), expires_in_seconds: z.int(), url: z.string() })
