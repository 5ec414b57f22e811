/** The bulk export, from the descriptor to a file that is whole (contract "Catalog export"). */
import type { Shop } from '../app/shop.js'
import { checkFile, fileSink, streamSink } from './file.js'
import type { Sink } from './file.js'
import { networkOf, refuseAborted } from './network.js'
import type { Network, NetworkOptions } from './network.js'
import { damaged, readUrl } from './read-url.js'
import type { Got } from './read-url.js'

type CatalogInput = Exclude<Parameters<Shop['products']['catalog']>[0], undefined>
type Descriptor = Awaited<ReturnType<Shop['products']['catalog']>>

/**
 * The path of a file, or a stream, which is closed at the end and aborted when the download fails.
 */
export type Target = string | WritableStream<Uint8Array>

export interface Progress {
  file: 'catalog' | 'attributes'
  bytes: number
  /** Null where the store does not tell how long the file is. */
  total: number | null
}

export interface DownloadOptions extends Omit<CatalogInput, 'include_attributes'>, NetworkOptions {
  /** Where the attributes feed goes (csv.gz); without it none is asked for. */
  attributes?: Target
  onProgress?: (progress: Progress) => void
}

/** The descriptor without its URLs, which are of no further use. */
export interface DownloadedCatalog extends Omit<Descriptor, 'url' | 'attributes_feed'> {
  /** Of the catalog's file; 0 where `changed` is false. */
  bytes: number
}

/**
 * Asks for an export and downloads it at once, from a shop of `connect` or of the library. A key
 * may ask every 20 minutes.
 *
 * With `last_version` of an export that is still right nothing is downloaded and no target is
 * touched: `changed` is false. A file appears under its name when all of it is on the disk, checked
 * by its length and as Parquet; until then, and after a failure, what was there stays. A connection
 * that breaks is gone on with, while the URL works. No key is sent to where the files lie.
 *
 * An app that is embedded and listens nowhere has URLs that lead to nobody: `fetch: (request) =>
 * createServer(app).fetch(request)` answers them in this process.
 *
 * Throws RemoteError (or ApiError, of the library) and what writing the target throws.
 */
export async function downloadCatalog(
  shop: Shop,
  to: Target,
  options: DownloadOptions = {},
): Promise<DownloadedCatalog> {
  const {
    attributes,
    last_version,
    expires_in,
    ignore_restrictions,
    onProgress = () => {},
    ...rest
  } = options
  const network = networkOf(rest, 'downloadCatalog')
  const sinks: Sink[] = []
  const copy = async (from: string, target: Target, file: Progress['file']) => {
    const sink = typeof target === 'string' ? await fileSink(target) : streamSink(target)
    sinks.push(sink)
    return copyUrl(
      network,
      from,
      { sink, report: (got) => onProgress({ file, bytes: got.bytes, total: got.total }) },
      FORMS[file],
    )
  }
  try {
    refuseAborted(network)
    // An export that could not be written would cost twenty minutes.
    for (const target of [to, attributes]) if (typeof target === 'string') await checkFile(target)
    const asked = Object.fromEntries(
      Object.entries({ last_version, expires_in, ignore_restrictions }).filter(
        ([, value]) => value !== undefined,
      ),
    ) as CatalogInput
    const {
      url,
      attributes_feed: feed,
      ...descriptor
    } = await shop.products.catalog({ ...asked, include_attributes: attributes !== undefined })
    if (!descriptor.changed || url === undefined) return { ...descriptor, bytes: 0 }
    const bytes = await copy(url, to, 'catalog')
    if (attributes !== undefined && feed) await copy(feed.url, attributes, 'attributes')
    for (const sink of sinks) await sink.finish()
    for (const sink of sinks) await sink.publish()
    return { ...descriptor, bytes }
  } catch (error) {
    for (const sink of sinks) await sink.discard(error)
    // Whoever reads the other end of a stream that was not begun would wait for ever.
    for (const target of [to, attributes])
      if (typeof target === 'object' && !target.locked) await target.abort(error).catch(() => {})
    throw error
  }
}

/** How a file of each kind begins and ends, and the bytes that the shortest one has. */
const FORMS = {
  catalog: {
    what: 'Parquet',
    begins: [0x50, 0x41, 0x52, 0x31],
    ends: [0x50, 0x41, 0x52, 0x31],
    least: 12,
  },
  attributes: { what: 'gzip', begins: [0x1f, 0x8b], ends: [], least: 18 },
} as const

async function copyUrl(
  network: Network,
  url: string,
  { sink, report }: { sink: Sink; report: (got: Got) => void },
  { what, begins, ends, least }: (typeof FORMS)[keyof typeof FORMS],
): Promise<number> {
  const got: Got = { bytes: 0, total: null, etag: null }
  let head: number[] = []
  let tail: number[] = []
  for await (const piece of readUrl(network, url, got)) {
    if (head.length < begins.length)
      head = [...head, ...piece.subarray(0, begins.length - head.length)]
    tail = [...tail, ...piece.subarray(-4)].slice(-4)
    await sink.write(piece)
    report({ ...got })
  }
  const fits =
    got.bytes >= least &&
    begins.every((byte, i) => head[i] === byte) &&
    ends.every((byte, i) => tail[i] === byte)
  if (!fits)
    throw damaged(
      `What came (${got.bytes} bytes) is not a whole ${what} file: it begins with ` +
        `${JSON.stringify(String.fromCharCode(...head))}.`,
    )
  return got.bytes
}
