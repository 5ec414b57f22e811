import type { View } from '../catalog/view/view.js'
import { SECOND } from '../core/clock.js'
import type { ExportsCall } from './ctx.js'
import { endpointsOf } from '../core/endpoint/endpoint.js'
import { isRetailPriced } from './number-columns.js'
import { noteUrl } from './queries.js'
import { ExportDescriptor, ExportQuery } from './shapes.js'
import { assertPollDue, exportVersion, notePoll } from './version.js'

const endpoint = endpointsOf<ExportsCall>()

export const exportCatalog = endpoint('products.catalog', {
  summary: 'Your whole restricted and priced catalog as one Parquet file',
  description:
    'The first call after a new snapshot or a change of the configuration builds the file, ' +
    'which takes up to a minute; later ones answer at once. ' +
    'A key may call once every 20 minutes. Download at once: a URL expires, ' +
    'and until then works for whoever has it, whatever becomes of the key.',
  query: ExportQuery,
  result: ExportDescriptor,
  errors: [
    'no_active_distributors',
    'no_validated_distributors',
    'catalog_polled_too_early',
    'feed_unavailable',
  ],
  example: {
    result: {
      version: '20261121T120000Z-3',
      export_version: '9hT3mC1rWv0eJqYfB7uKzA5d',
      changed: true,
      format: 'parquet',
      compression: 'snappy',
      rows: 88,
      restrictions_applied: true,
      custom_pricing_applied: false,
      retail_pricing_applied: true,
      expires_in_seconds: 1_800,
      url:
        'https://shop.example/objects/exports/118602c2f011534030bb1a62e8a48c1e/catalog.parquet' +
        '?expires=1795264200&name=catalog-9hT3mC1rWv0eJqYfB7uKzA5d.parquet' +
        '&signature=uin2n3PtfbKTBnbR8oIXy-YtgVlnrexlcUBZDxfEXk4',
      attributes_feed: {
        format: 'csv.gz',
        url:
          'https://shop.example/objects/exports/118602c2f011534030bb1a62e8a48c1e/attributes.csv.gz' +
          '?expires=1795264200&name=attributes-9hT3mC1rWv0eJqYfB7uKzA5d.csv.gz' +
          '&signature=HESLc8_WGR68mkntzMoBKRJTAiUDhsFEDVGNX639vis',
      },
    },
    refused: {
      invalid_parameter: {
        request: { expires_in: 30 },
        message: 'expires_in: must be at least 60',
        details: [{ path: 'expires_in', message: 'must be at least 60' }],
      },
      catalog_polled_too_early: {
        request: {},
        message:
          'The catalog export may be called once every 20 minutes; call again in 1200 seconds.',
        details: { retry_after_seconds: 1_200 },
      },
    },
  },
  async run(ctx, { query }) {
    const wanted = {
      ignoreRestrictions: query.ignore_restrictions,
      attributes: query.include_attributes,
    }
    const saved = await ctx.configurations.of(ctx.subscriber)
    const view = await ctx.catalog.view(ctx.subscriber, wanted.ignoreRestrictions, saved)
    if (ctx.key) await assertPollDue(ctx, ctx.key)
    const version = exportVersion(ctx.subscriber.id, saved, view.snapshot.version, wanted)
    const isNew = version !== query.last_version
    const urls = isNew
      ? await signedUrls(ctx, view, version, { ...wanted, expiresIn: query.expires_in })
      : {}
    if (ctx.key) await notePoll(ctx, ctx.key)
    return {
      version: view.snapshot.version,
      export_version: version,
      changed: isNew,
      format: 'parquet' as const,
      compression: 'snappy' as const,
      rows: view.total,
      restrictions_applied: !wanted.ignoreRestrictions,
      custom_pricing_applied: view.customPricing(),
      retail_pricing_applied: isRetailPriced(view),
      expires_in_seconds: query.expires_in,
      ...urls,
    }
  },
})

async function signedUrls(
  ctx: ExportsCall,
  view: View,
  version: string,
  { expiresIn, ...wanted }: { expiresIn: number; ignoreRestrictions: boolean; attributes: boolean },
): Promise<Pick<ExportDescriptor, 'url' | 'attributes_feed'>> {
  const files = await ctx.exports.files(ctx.subscriber, view, version, wanted)
  await noteUrl(ctx.engine.meter.db, files, ctx.now() + expiresIn * SECOND)
  const url = await ctx.exports.url(files.parquet_key, {
    expiresIn,
    fileName: `catalog-${version}.parquet`,
  })
  if (files.attributes_key === null) return { url }
  return {
    url,
    attributes_feed: {
      format: 'csv.gz',
      url: await ctx.exports.url(files.attributes_key, {
        expiresIn,
        fileName: `attributes-${version}.csv.gz`,
      }),
    },
  }
}
