import * as z from 'zod'
import { endpoint } from '../core/endpoint.js'
import { readConfiguration } from './saved.js'

export const getConfig = endpoint('config.get', {
  summary: 'Read the configuration document',
  description: 'Credentials are masked as ********.',
  result: z.object({ configuration: z.looseObject({}) }),
  errors: [],
  example: {
    result: {
      configuration: {
        distributors: {}, targets: {}, notification_email: 'owner@shop.example', pricing: {}, product_restrictions: {},
      },
    },
  },
  run: async (ctx) => ({ configuration: readConfiguration(ctx, ctx.subscriber) }),
})
