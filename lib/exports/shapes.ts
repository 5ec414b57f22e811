/** Shapes of the catalog export (contract "Catalog export descriptor", "Catalog export"). */
import * as z from 'zod'

export const ExportQuery = z.object({
  last_version: z.string().optional().meta({
    description:
      'The export_version that you have: while it is still right, the answer has changed: false and no url',
    example: 'fKUqJgr6POJZxbgcYjNWCM1X',
  }),
  expires_in: z
    .int()
    .min(60)
    .max(3_600)
    .default(1_800)
    .meta({ description: 'Seconds that the URLs work', example: 1_800 }),
  include_attributes: z
    .boolean()
    .default(false)
    .meta({ description: 'true also returns the attributes feed', example: true }),
  ignore_restrictions: z.boolean().default(false).meta({
    description:
      'true skips the product restrictions and cost filters; pricing and the validated-distributor gate still apply',
    example: false,
  }),
})
export type ExportQuery = z.output<typeof ExportQuery>

export const ExportDescriptor = z
  .object({
    version: z.string().describe("The snapshot of the network's catalog that the file is made of"),
    export_version: z
      .string()
      .describe(
        'Another one after every new snapshot and every change of the configuration; send it as last_version',
      ),
    changed: z.boolean().describe('false when last_version is still right'),
    format: z.literal('parquet').describe('Of the file'),
    compression: z.literal('snappy').describe('Of the file'),
    rows: z.int().describe('Offers in the file'),
    restrictions_applied: z.boolean().describe('false when ignore_restrictions was asked for'),
    custom_pricing_applied: z.boolean().describe("At least one price differs from the feed's"),
    retail_pricing_applied: z.boolean().describe('The file has a retail_price'),
    expires_in_seconds: z.int().describe('Seconds that the URLs work from now'),
    url: z.string().optional().meta({
      description: 'Works for whoever has it until it expires; absent when changed is false',
      format: 'uri',
    }),
    attributes_feed: z
      .object({
        format: z.literal('csv.gz').describe('Of the file'),
        url: z.string().meta({ description: 'As the other one', format: 'uri' }),
      })
      .optional()
      .describe('Columns upc, distid, attribute_name, attribute_value'),
  })
  .meta({ component: 'CatalogExport', about: 'Where the export is to be had' })
export type ExportDescriptor = z.output<typeof ExportDescriptor>
