/** Shapes of the registry (contract "Distributor registry entry"). */
import * as z from 'zod'

export const RegistryEntry = z.object({
  distid: z.string().describe('Send it exactly as it is: a string, never a number'),
  automated_fulfillment: z.boolean(),
  config_schema: z.record(z.string(), z.object({
    type: z.enum(['string', 'number', 'boolean', 'array', 'state-selector']),
    label: z.string(),
    helperText: z.string().optional(),
    config_key: z.string().describe('a-b-c is distributors.<name>.a.b.c'),
  })),
  default_config: z.looseObject({}).describe('A template of the entry: it fits the schema once its blanks are filled'),
})
export type RegistryEntry = z.infer<typeof RegistryEntry>
