/** Shapes of the registry (contract "Distributor registry entry"). */
import * as z from 'zod'

const Field = z
  .object({
    type: z
      .enum(['string', 'number', 'boolean', 'array', 'state-selector'])
      .describe('What to ask for'),
    label: z.string().describe('What to call it'),
    helperText: z.string().optional().describe('More about it'),
    config_key: z
      .string()
      .describe('a-b-c is distributors.<name>.a.b.c of the configuration document'),
  })
  .meta({ component: 'ConfigField', about: "A field of a distributor's settings" })

export const RegistryEntry = z
  .object({
    distid: z.string().describe('Send it exactly as it is: a string, never a number'),
    automated_fulfillment: z.boolean().describe('Whether orders can be placed with it'),
    config_schema: z.record(z.string(), Field).describe('Its settings, by field name'),
    default_config: z
      .looseObject({})
      .describe('A template of the entry: it fits the schema once its blanks are filled'),
  })
  .meta({ component: 'RegistryEntry', about: 'A distributor that can be configured' })
export type RegistryEntry = z.infer<typeof RegistryEntry>
