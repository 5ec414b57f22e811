import * as z from 'zod'
import type { DistributorsCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { defineDistributor } from './distributor.js'
import { registryEntry } from './registry-entry.js'
import { RegistryEntry } from './shapes.js'

const endpoint = endpointsOf<DistributorsCall>()

const example = defineDistributor({
  distid: 'DAV',
  name: 'Davidsons',
  automatedFulfillment: false,
  templateShipping: 29.95,
  settings: {},
})

export const listDistributors = endpoint('distributors', {
  summary: 'The distributors that can be configured',
  description:
    "By name. `config_key` is a dash-delimited path into the distributor's entry of the " +
    'configuration document; `default_config` is a template of that entry.',
  result: z.record(z.string(), RegistryEntry).describe('Distributors by name'),
  errors: [],
  example: { result: { Davidsons: registryEntry(example) } },
  run: async (ctx) =>
    Object.fromEntries(
      ctx.distributors.all.map((distributor) => [distributor.name, registryEntry(distributor)]),
    ),
})
