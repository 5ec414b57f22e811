/** Shapes of the configuration endpoints (contract "Configuration"). The document itself has a schema of its own. */
import * as z from 'zod'

const document = z.looseObject({}).meta({ ref: 'Configuration' })

export const ConfigurationFault = z.object({
  path: z.string().describe('JSON Pointer into the document; a missing or unknown member\'s own'),
  message: z.string().describe('What is wrong, and how to mend it'),
}).meta({ component: 'ConfigurationFault', about: 'One fault of a configuration document' })

export const ReadConfig = z.object({ configuration: document })

/** The full document, or the document under `configuration`. */
export const PutConfig = z.looseObject({ configuration: z.unknown().optional() })
export const PutQuery = z.object({ validate: z.boolean().default(false).describe('true also refuses a save that would take more of the live catalog away than the delete threshold allows') })
export const PutHeaders = z.object({ if_match: z.string().optional().describe('The ETag of the document that the new one replaces') })
export const PutResult = z.object({ saved: z.literal(true), configuration: document })

export const ValidateConfig = z.strictObject({ configuration: z.unknown().optional() })

export const ValidationReport = z.object({
  valid: z.boolean().describe('No schema error, no required field of an active distributor unset, no credential refused'),
  schema_errors: z.array(ConfigurationFault),
  configured_distributors: z.array(z.string()),
  active_distributors: z.array(z.string()),
  credentials: z.array(z.object({
    distid: z.string(),
    distributor: z.string(),
    valid: z.boolean().nullable().describe('null: could not be reached; an earlier result stays'),
  })),
  warnings: z.array(z.string()),
})
export type ValidationReport = z.infer<typeof ValidationReport>

export const DryRun = z.object({ dry_run: z.literal(true), schema_valid: z.boolean(), errors: z.array(ConfigurationFault) })
export type DryRun = z.infer<typeof DryRun>

export const ValidateResult = z.union([ValidationReport, DryRun])
