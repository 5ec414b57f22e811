/**
 * Shapes of the configuration endpoints (contract "Configuration"). The document itself has a
 * schema of its own.
 */
import * as z from 'zod'

const document = z.looseObject({}).meta({ ref: 'Configuration' })

export const ConfigurationFault = z
  .object({
    path: z.string().describe("JSON Pointer into the document; a missing or unknown member's own"),
    message: z.string().describe('What is wrong, and how to mend it'),
  })
  .meta({ component: 'ConfigurationFault', about: 'One fault of a configuration document' })

export const ReadConfig = z.object({ configuration: document }).meta({
  component: 'SavedConfiguration',
  about: 'The saved document, credentials masked as ********',
})

/** The full document, or the document under `configuration`. */
export const PutConfig = z.looseObject({ configuration: z.unknown().optional() })
export const PutQuery = z.object({
  validate: z
    .boolean()
    .default(false)
    .meta({
      description:
        'true also refuses a save that would take more of the live catalog away than the delete ' +
        'threshold allows (targets.woo.alerts.delete_threshold_percent, 0.25 where it is not ' +
        'set)',
      example: false,
    }),
})
export const PutHeaders = z.object({
  if_match: z
    .string()
    .optional()
    .meta({
      description:
        'The ETag of the document that the new one replaces, such as "1-MPVKheI0_VcA"; another ' +
        'one there is refused. * fits any. Without it the document is replaced whatever it is',
      example: '*',
    }),
})
export const PutResult = z
  .object({ saved: z.literal(true).describe('Always true'), configuration: document })
  .meta({
    component: 'ReplacedConfiguration',
    about: 'The document as it was saved, credentials masked as ********',
  })

export const ValidateConfig = z.strictObject({ configuration: z.unknown().optional() })

export const ValidationReport = z
  .object({
    valid: z
      .boolean()
      .describe(
        'No schema error, no required field of an active distributor unset, no credential refused',
      ),
    schema_errors: z.array(ConfigurationFault).describe('Faults of the saved document'),
    configured_distributors: z
      .array(z.string())
      .describe('Names of the distributors in the document'),
    active_distributors: z.array(z.string()).describe('Names of those that it has as active'),
    credentials: z
      .array(
        z.object({
          distid: z.string().describe('The distributor'),
          distributor: z.string().describe('Its name'),
          valid: z
            .boolean()
            .nullable()
            .describe('null: could not be reached; an earlier result stays'),
        }),
      )
      .describe('What each active distributor said of its credentials'),
    warnings: z.array(z.string()).describe('What is allowed and may surprise'),
  })
  .meta({ component: 'ValidationReport', about: 'The saved document, validated' })
export type ValidationReport = z.infer<typeof ValidationReport>

export const DryRun = z
  .object({
    dry_run: z.literal(true).describe('Always true: nothing was saved'),
    schema_valid: z.boolean().describe('Whether there are no errors'),
    errors: z.array(ConfigurationFault).describe('Faults of the candidate'),
  })
  .meta({ component: 'DryRun', about: 'A candidate, validated' })
export type DryRun = z.infer<typeof DryRun>

export const ValidateResult = z
  .union([ValidationReport, DryRun])
  .describe('A report on the saved document, or of a dry run')
