import * as z from 'zod'
import type { DistributorsCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { davidsons } from './index.js'
import { registryEntry } from './registry-entry.js'
import { RegistryEntry } from './shapes.js'

const endpoint = endpointsOf<DistributorsCall>()

export const listDistributors = endpoint('distributors', {
  summary: 'The distributors that can be configured',
  description:
    "By name. `config_key` is a dash-delimited path into the distributor's entry of the configuration document; `default_config` is a template of that entry.",
  result: z.record(z.string(), RegistryEntry).describe('Distributors by name'),
  errors: [],
  example: { result: { Davidsons: registryEntry(davidsons) } },
  run: async (ctx) =>
    Object.fromEntries(
      ctx.distributors.all.map((distributor) => [distributor.name, registryEntry(distributor)]),
    ),
})
