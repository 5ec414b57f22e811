/**
 * Lists of a bucket. Asked for and read here: the client's parser takes a name of digits for a
 * number, and the empty delimiter that it sends with a list of uploads makes Swift answer none.
 */
import { text } from 'node:stream/consumers'
import type { Client } from 'minio'
import { encodeStrictly } from './file-names.js'
import { StoreFault } from './s3-faults.js'

/** Names below a prefix with the milliseconds of their last change, all pages of them. */
export async function listObjects(
  client: Client,
  bucket: string,
  prefix: string,
): Promise<{ name: string; changedAt: number }[]> {
  const found: { name: string; changedAt: number }[] = []
  let token: string | null = null
  do {
    const page = await ask(
      client,
      bucket,
      'ListBucketResult',
      (token === null ? '' : `continuation-token=${encodeStrictly(token)}&`) +
        `list-type=2&max-keys=1000&prefix=${encodeStrictly(prefix)}`,
    )
    for (const entry of elements(page, 'Contents'))
      found.push({
        name: element(entry, 'Key'),
        changedAt: Date.parse(element(entry, 'LastModified')),
      })
    const isLast = element(page, 'IsTruncated') !== 'true'
    token = isLast ? null : element(page, 'NextContinuationToken')
    if (token === '') throw notS3()
  } while (token !== null)
  return found
}

/**
 * Uploads below a prefix that were begun and not ended, with the milliseconds of their beginning;
 * the first thousand.
 */
export async function listUploads(
  client: Client,
  bucket: string,
  prefix: string,
): Promise<{ name: string; uploadId: string; begunAt: number }[]> {
  const page = await ask(
    client,
    bucket,
    'ListMultipartUploadsResult',
    `max-uploads=1000&prefix=${encodeStrictly(prefix)}&uploads`,
  )
  return elements(page, 'Upload').map((entry) => ({
    name: element(entry, 'Key'),
    uploadId: element(entry, 'UploadId'),
    begunAt: Date.parse(element(entry, 'Initiated')),
  }))
}

async function ask(client: Client, bucket: string, root: string, query: string): Promise<string> {
  const page = await text(
    await client.makeRequestAsync({ method: 'GET', bucketName: bucket, query }),
  )
  if (!page.includes(`<${root}`)) throw notS3()
  return page
}

function notS3(): StoreFault {
  return new StoreFault(
    'refused',
    'what answers in the place of S3 gives no list of a bucket: is it an S3 server?',
  )
}

function elements(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(
    ([, content = '']) => content,
  )
}

const ENTITIES: Record<string, string> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
}

/** The text of the first element of this name; empty where there is none. */
function element(xml: string, name: string): string {
  const [, content = ''] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return content.replaceAll(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity)
}
