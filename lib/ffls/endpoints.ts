import type { FflsCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { dayOf } from '../core/clock.js'
import { readDocument } from './documents.js'
import { findDealer, findNear, fullRecord } from './find.js'
import {
  DocumentParams,
  DocumentResult,
  FullDealer,
  LicenseParams,
  NearQuery,
  NearResult,
} from './shapes.js'
import type { Dealer } from './shapes.js'

const endpoint = endpointsOf<FflsCall>()

const EXAMPLE: Dealer = {
  license_number: '9-86-013-01-9J-37570',
  list_name: 'TIMBER HOLLOW GUN SHOP',
  business_name: 'TIMBER HOLLOW GUN SHOP',
  license_name: 'ABERCROMBY, IDA S',
  premise_street: '1455 TURNPIKE RD',
  premise_city: 'PHOENIX',
  premise_state: 'AZ',
  premise_zip_code: '85003',
  voice_phone: '6025550108',
  email: null,
  lat: 33.451,
  lng: -112.078,
  ffl_on_file: 1,
  sot_on_file: 1,
  expiration_date: '2029-09-01',
  active: 1,
}
const NO_LICENSE = 'must be 10 to 25 digits, letters and dashes; segments may be masked with X'

export const nearFfls = endpoint('ffls.near', {
  summary: 'Dealers near a ZIP, at most 150, best first',
  description:
    'Dealers on file in the exact ZIP come first, then those on file nearby by distance, then ' +
    'the others in the ZIP, then the others by distance; dealers at one distance by license ' +
    'number. Distances are between the middles of ZIP areas. Dealers whose license has run ' +
    'out are left out.',
  query: NearQuery,
  result: NearResult,
  errors: [],
  example: {
    result: { count: 1, ffls: [EXAMPLE] },
    refused: {
      invalid_parameter: {
        request: { zip: '8500' },
        message: 'zip: must be 5 digits',
        details: [{ path: 'zip', message: 'must be 5 digits' }],
      },
    },
  },
  run: async (ctx, { query }) => findNear(ctx, query),
})

export const getFfl = endpoint('ffls.get', {
  summary: 'One dealer by license number',
  description:
    'The number may be masked: X stands for any digit or letter, dashes and case do not ' +
    'matter. A mask that fits several dealers is a 404 that says how many. Dealers whose ' +
    'license has run out are returned too, with active 0.',
  params: LicenseParams,
  result: FullDealer,
  errors: ['invalid_parameter', 'not_found'],
  example: {
    request: { license_number: '9-86-XXX-XX-XX-37570' },
    result: {
      ...EXAMPLE,
      transfer_fee_longgun: 25,
      transfer_fee_handgun: 30,
      residential: 0,
      contact_required: 0,
      mail_street: '1455 TURNPIKE RD',
      mail_city: 'PHOENIX',
      mail_state: 'AZ',
      mail_zip_code: '85003',
    },
    refused: {
      invalid_parameter: {
        request: { license_number: '1-2' },
        message: `license_number: ${NO_LICENSE}`,
        details: [{ path: 'license_number', message: NO_LICENSE }],
      },
      not_found: {
        request: { license_number: '9-86-XXX-XX-XX-00000' },
        message: 'No dealer has the license 9-86-XXX-XX-XX-00000.',
      },
    },
  },
  run: async (ctx, { params }) =>
    fullRecord(await findDealer(ctx, params.license_number), dayOf(ctx.now())),
})

export const getFflDocument = endpoint('ffls.document', {
  summary: "Short-lived URL of a dealer's license or SOT document",
  description:
    'Only for a dealer whose very license number one of your fulfillment orders names. The ' +
    'URL works for 15 minutes without a key: download at once, never store it.',
  params: DocumentParams,
  result: DocumentResult,
  errors: [
    'invalid_parameter',
    'ffl_not_associated_with_order',
    'document_not_on_file',
    'document_file_unavailable',
  ],
  example: {
    result: {
      associated_order_id: 'W-1001',
      expires_in_seconds: 900,
      url:
        'https://shop.example/objects/documents/fe2b1983c98f6410572188f6d4fe07ee.pdf' +
        '?expires=1795263570&name=9-86-37570-ffl.pdf' +
        '&signature=tYtSlvop9i0timwNZtm-P-96Ojprw77_foZXLLCRh9c',
    },
    refused: {
      invalid_parameter: {
        request: { license_number: '9-86-013-01-9J-37570', document_type: 'w9' },
        message: 'document_type: must be one of ffl, sot',
        details: [{ path: 'document_type', message: 'must be one of ffl, sot' }],
      },
      ffl_not_associated_with_order: {
        request: { license_number: '9-86-013-01-8F-53408', document_type: 'ffl' },
      },
      document_not_on_file: { message: 'The dealer has no SOT document on file.' },
    },
  },
  run: async (ctx, { params }) => readDocument(ctx, params),
})
