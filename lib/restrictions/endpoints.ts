import type { RestrictionsCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { checkRestrictions } from './check.js'
import { CheckBody, CheckResult } from './shapes.js'

const endpoint = endpointsOf<RestrictionsCall>()

export const checkItems = endpoint('restrictions.check', {
  summary: 'May these items be sold to this destination?',
  description:
    "Evaluated against the operator's active rules and your overrides. What the request does " +
    'not say of an item comes from the catalog by UPC or (distid, sku); counties come from ' +
    'the ZIP. A rule that might apply if a fact were known answers in manual_review and names ' +
    'what is missing. approved: false with empty blocking_rules means: hold for a person. Not ' +
    'legal advice.',
  body: CheckBody,
  result: CheckResult,
  errors: [],
  example: {
    request: {
      shipping: { state: 'CA', zip: '90012' },
      items: [{ product_class: 'MG', attributes: { magazine_capacity: 17 } }],
    },
    result: {
      approved: false,
      items: [
        {
          upc: null,
          sku: null,
          approved: false,
          warnings: [],
          manual_review: [],
          blocking_rules: [
            {
              rule_id: 'us-ca-magazine-10',
              kind: 'BLOCK',
              customer_message:
                'California does not allow the sale of magazines that hold more than 10 rounds.',
              reason: 'state is CA; product_class is MG; magazine_capacity 17 is greater than 10',
              missing: [],
              would_change: ['a magazine_capacity of at most 10'],
              citations: [
                {
                  cite: 'Cal. Penal Code § 32310',
                  url:
                    'https://leginfo.legislature.ca.gov/faces/codes_displaySection.xhtml' +
                    '?lawCode=PEN&sectionNum=32310.',
                  retrieved: null,
                },
                {
                  cite: 'Cal. Penal Code § 16740 (definition)',
                  url:
                    'https://leginfo.legislature.ca.gov/faces/codes_displaySection.xhtml' +
                    '?lawCode=PEN&sectionNum=16740.',
                  retrieved: null,
                },
              ],
              effective_from: '2000-01-01',
            },
          ],
        },
      ],
    },
    refused: {
      invalid_parameter: {
        request: { shipping: { state: 'XX' }, items: [{ upc: '439010079193' }] },
        message: 'shipping.state: "XX" is not a state; send its two letters',
        details: [{ path: 'shipping.state', message: '"XX" is not a state; send its two letters' }],
      },
    },
  },
  run: async (ctx, { body }) => checkRestrictions(ctx, ctx.subscriber, body),
})
