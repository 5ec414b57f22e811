/** Shapes of the FFL directory (contract "FFL dealer record", "FFL directory"). */
import * as z from 'zod'

const flag = z.union([z.literal(0), z.literal(1)])
const text = (description: string) => z.string().nullable().describe(description)

const DEALER = {
  license_number: z.string().describe('The license; pass it to an order as ffl.licenseNumber'),
  list_name: z.string().describe('Business name, else license name'),
  business_name: text('What the shop is called'),
  license_name: z.string().describe('Who holds the license'),
  premise_street: z.string().describe('Where the shop is, and where orders ship to'),
  premise_city: z.string().describe('City of the premise'),
  premise_state: z.string().describe('State of the premise, two letters'),
  premise_zip_code: z.string().describe('ZIP of the premise, 5 digits, or 9'),
  voice_phone: text('Digits alone'),
  email: text('Where the dealer is written to'),
  lat: z.number().nullable().describe('Latitude of the middle of the ZIP area, degrees'),
  lng: z.number().nullable().describe('Longitude of it, degrees'),
  ffl_on_file: flag.describe('1 = license on file with the network'),
  sot_on_file: flag.describe('1 = NFA-capable'),
  expiration_date: z
    .string()
    .meta({ description: 'YYYY-MM-DD, valid through that day', format: 'date' }),
  active: flag.describe('1 = valid today'),
}

/** A dealer as the list shows it. */
export const Dealer = z.object(DEALER).meta({ component: 'Dealer', about: 'A licensed dealer' })
export type Dealer = z.infer<typeof Dealer>

/** A dealer as the lookup shows it. */
export const FullDealer = z
  .object({
    ...DEALER,
    transfer_fee_longgun: z.number().nullable().describe('For a transfer of a long gun, dollars'),
    transfer_fee_handgun: z.number().nullable().describe('For a transfer of a handgun, dollars'),
    residential: flag.describe('1 = home-based'),
    contact_required: flag.describe('1 = call before shipping'),
    mail_street: text('Mailing address'),
    mail_city: text('City of the mailing address'),
    mail_state: text('State of the mailing address, two letters'),
    mail_zip_code: text('ZIP of the mailing address'),
  })
  .meta({ component: 'DealerRecord', about: 'A licensed dealer, in full' })
export type FullDealer = z.infer<typeof FullDealer>

export const NearQuery = z.object({
  zip: z
    .string()
    .regex(/^\d{5}$/, 'must be 5 digits')
    .meta({ description: 'ZIP code of the customer, 5 digits', example: '85003' }),
  radius: z.int().min(1).max(50).default(15).meta({ description: 'Miles', example: 25 }),
  name: z
    .string()
    .max(60)
    .regex(/^[\p{L}\p{N} '&.-]*$/u, "must be letters, digits, spaces and ' & . -")
    .optional()
    // Not every reader of a pattern knows what a letter is in other scripts; those are taken too.
    .meta({
      description: "Part of the business or license name: letters, digits, spaces and ' & . -",
      pattern: "^[A-Za-z0-9 '&.-]*$",
      example: 'Timber Hollow',
    }),
})
export type NearQuery = z.output<typeof NearQuery>
export const NearResult = z
  .object({
    count: z.int().describe('Dealers in the list'),
    ffls: z.array(Dealer).max(150).describe('The best first'),
  })
  .meta({ component: 'DealerList', about: 'Dealers near a ZIP' })

/** The form is checked by the endpoint, which tells what a license number is. */
export const LicenseParams = z.object({
  license_number: z
    .string()
    .regex(
      /^[0-9A-Za-z-]{10,25}$/,
      'must be 10 to 25 digits, letters and dashes; segments may be masked with X',
    )
    .meta({
      description: '10 to 25 digits, letters and dashes; segments may be masked with X',
      example: '9-86-013-01-9J-37570',
    }),
})

export const DocumentParams = LicenseParams.extend({
  document_type: z
    .enum(['ffl', 'sot'])
    .meta({ description: 'ffl: the license; sot: the proof of the special tax', example: 'ffl' }),
})
export const DocumentResult = z
  .object({
    associated_order_id: z.string().describe('The order of yours that names the license'),
    expires_in_seconds: z.int().describe('Seconds that the URL works from now'),
    url: z
      .string()
      .meta({ description: 'Works for whoever has it until it expires', format: 'uri' }),
  })
  .meta({ component: 'DealerDocument', about: 'Where a document of a dealer is to be had' })
