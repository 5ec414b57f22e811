/** Shapes of the catalog export (contract "Catalog export descriptor", "Catalog export"). */
import * as z from 'zod'

export const ExportQuery = z.object({
  last_version: z.string().optional().describe('The export_version that you have: while it is still right, the answer has changed: false and no url'),
  expires_in: z.int().min(60).max(3_600).default(1_800).describe('Seconds that the URLs work'),
  include_attributes: z.boolean().default(false).describe('true also returns the attributes feed'),
  ignore_restrictions: z.boolean().default(false).describe('true skips the product restrictions and cost filters; pricing and the validated-distributor gate still apply'),
})
export type ExportQuery = z.output<typeof ExportQuery>

export const ExportDescriptor = z.object({
  version: z.string().describe('The snapshot of the network\'s catalog that the file is made of'),
  export_version: z.string().describe('Another one after every new snapshot and every change of the configuration; send it as last_version'),
  changed: z.boolean().describe('false when last_version is still right'),
  format: z.literal('parquet'),
  compression: z.literal('snappy'),
  rows: z.int(),
  restrictions_applied: z.boolean(),
  custom_pricing_applied: z.boolean().describe('At least one price differs from the feed\'s'),
  retail_pricing_applied: z.boolean().describe('The file has a retail_price'),
  expires_in_seconds: z.int(),
  url: z.string().optional().describe('Works for whoever has it until it expires; absent when changed is false'),
  attributes_feed: z.object({ format: z.literal('csv.gz'), url: z.string() }).optional().describe('Columns upc, distid, attribute_name, attribute_value'),
})
export type ExportDescriptor = z.output<typeof ExportDescriptor>
