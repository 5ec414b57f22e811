import { endpoint } from '../core/endpoint.js'
import { dayOf } from '../core/clock.js'
import { readDocument } from './documents.js'
import { findDealer, findNear, fullRecord } from './find.js'
import { DocumentParams, DocumentResult, FullDealer, LicenceParams, NearQuery, NearResult } from './shapes.js'
import type { Dealer } from './shapes.js'

const EXAMPLE: Dealer = {
  license_number: '1-62-037-01-8E-90211', list_name: 'Cumberland Arms & Tackle', business_name: 'Cumberland Arms & Tackle', license_name: 'CUMBERLAND ARMS LLC',
  premise_street: '410 MADE UP PIKE', premise_city: 'NASHVILLE', premise_state: 'TN', premise_zip_code: '37203', voice_phone: '6155550143', email: null,
  lat: 36.151, lng: -86.789, ffl_on_file: 1, sot_on_file: 0, expiration_date: '2028-05-01', active: 1,
}

export const nearFfls = endpoint('ffls.near', {
  summary: 'Dealers near a ZIP, at most 150, best first',
  description: 'Dealers on file in the exact ZIP come first, then those on file nearby by distance, then the others in the ZIP, then the others by distance; dealers at one distance by licence number. Distances are between the middles of ZIP areas. Dealers whose licence has run out are left out.',
  query: NearQuery,
  result: NearResult,
  errors: [],
  example: { request: { zip: '37203', radius: 25 }, result: { count: 1, ffls: [EXAMPLE] } },
  run: async (ctx, { query }) => findNear(ctx, query),
})

export const getFfl = endpoint('ffls.get', {
  summary: 'One dealer by licence number',
  description: 'The number may be masked: X stands for any digit or letter, dashes and case do not matter. A mask that fits several dealers is a 404 that says how many. Dealers whose licence has run out are returned too, with active 0.',
  params: LicenceParams,
  result: FullDealer,
  errors: ['invalid_parameter', 'not_found'],
  example: {
    request: { license_number: '1-62-XXX-XX-XX-90211' },
    result: {
      ...EXAMPLE, transfer_fee_longgun: 25, transfer_fee_handgun: 30, residential: 0, contact_required: 0,
      mail_street: '410 MADE UP PIKE', mail_city: 'NASHVILLE', mail_state: 'TN', mail_zip_code: '37203',
    },
  },
  run: async (ctx, { params }) => fullRecord(await findDealer(ctx, params.license_number), dayOf(ctx.now())),
})

export const getFflDocument = endpoint('ffls.document', {
  summary: 'Short-lived URL of a dealer\'s licence or SOT document',
  description: 'Only for a dealer whose very licence number one of your fulfillment orders names. The URL works for 15 minutes without a key: download at once, never store it.',
  params: DocumentParams,
  result: DocumentResult,
  errors: ['invalid_parameter', 'ffl_not_associated_with_order', 'document_not_on_file', 'document_file_unavailable'],
  example: {
    request: { license_number: '1-62-037-01-8E-90211', document_type: 'ffl' },
    result: { associated_order_id: '10452', expires_in_seconds: 900, url: 'https://shop.example/objects/documents/6f1c.pdf?expires=1795269600&name=1-62-90211-ffl.pdf&signature=…' },
  },
  run: async (ctx, { params }) => readDocument(ctx, params),
})
