/** Objects as files of a folder, and URLs of our own server that are signed and expire. */
import { putInPlace, syncPath } from '../core/storage/durable.js'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { constants } from 'node:fs'
import {
  access,
  copyFile,
  mkdir,
  open,
  readFile,
  readdir,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { HOUR } from '../core/clock.js'
import { ApiError, codeOf } from '../core/errors.js'
import { checkKey, isKey } from './store.js'
import type { ObjectStore, OpenObject, PutOptions, SignedAddress, UrlOptions } from './store.js'

export interface DiskStore extends ObjectStore {
  open(address: SignedAddress): Promise<OpenObject>
  /** Removes what a process that died left half written. */
  tidy(): Promise<void>
}

export interface DiskOptions {
  /** The folder of the objects, made with the first of them. */
  dir: string
  now: () => number
  random: (bytes: number) => Buffer
  /** The server's address, without a slash at its end. */
  publicUrl: () => string
  /** The key of the signatures. */
  signingKey: () => string
}

/** Names that no key has, since none begins with a dot. */
const DRAFTS = '.drafts'
const TYPES = '.types'
/** A draft that is older was left behind. */
const OLD_DRAFT = HOUR
const NOT_THERE = 'This file is no longer there; ask for a new URL.'

/** A store in a folder; its URLs are served by this process. */
export function diskStore(options: DiskOptions): DiskStore {
  return new FolderStore(options)
}

class FolderStore implements DiskStore {
  readonly #options: DiskOptions

  constructor(options: DiskOptions) {
    this.#options = options
  }

  async put(key: string, file: string | Uint8Array, { contentType }: PutOptions): Promise<void> {
    const place = this.#placeOf(key)
    await this.#keep(this.#placeOf(key, TYPES), (draft) =>
      writeFile(draft, contentType, { mode: 0o600 }),
    )
    await this.#keep(place, (draft) =>
      typeof file === 'string'
        ? copyFile(file, draft, constants.COPYFILE_FICLONE)
        : writeFile(draft, file, { mode: 0o600 }),
    )
  }

  async has(key: string): Promise<boolean> {
    const place = this.#placeOf(key)
    const isReadable = stat(place).then(
      async (found) => found.isFile() && access(place, constants.R_OK).then(() => true),
    )
    return (await orNull(isReadable)) ?? false
  }

  async remove(key: string): Promise<void> {
    await rm(this.#placeOf(key), { force: true })
    await rm(this.#placeOf(key, TYPES), { force: true })
  }

  async list(prefix: string): Promise<{ key: string; changedAt: number }[]> {
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
    if (folder !== '') checkKey(folder.slice(0, -1))
    const all = await filesBelow(this.#options.dir, folder)
    const keys = all.filter((key) => key.startsWith(prefix)).sort()
    const found = await Promise.all(
      keys.map(async (key) => ({
        key,
        changedAt: (await orNull(stat(this.#placeOf(key))))?.mtimeMs,
      })),
    )
    return found.flatMap(({ key, changedAt }) =>
      changedAt === undefined ? [] : [{ key, changedAt: Math.floor(changedAt) }],
    )
  }

  async url(key: string, { expiresIn, fileName = '' }: UrlOptions): Promise<string> {
    checkKey(key)
    const expires = String(Math.ceil(this.#options.now() / 1_000) + expiresIn)
    const query = new URLSearchParams({
      expires,
      ...(fileName !== '' && { name: fileName }),
      signature: this.#sign({ key, expires, fileName }),
    })
    return `${this.#options.publicUrl()}/objects/${key}?${query}`
  }

  async open(address: SignedAddress): Promise<OpenObject> {
    if (!isKey(address.key) || !equal(this.#sign(address), address.signature))
      throw new ApiError('invalid_url')
    if (this.#options.now() >= Number(address.expires) * 1_000)
      throw new ApiError('invalid_url', { message: 'This URL has expired; ask for a new one.' })
    const handle = await orNull(open(this.#placeOf(address.key)))
    if (!handle) throw new ApiError('not_found', { message: NOT_THERE })
    return openObject(handle, () => orNull(readFile(this.#placeOf(address.key, TYPES), 'utf8')))
  }

  async tidy(): Promise<void> {
    const drafts = join(this.#options.dir, DRAFTS)
    for (const name of (await orNull(readdir(drafts))) ?? []) {
      const found = await orNull(stat(join(drafts, name)))
      if (found && found.mtimeMs < this.#options.now() - OLD_DRAFT)
        await rm(join(drafts, name), { force: true })
    }
  }

  #placeOf(key: string, folder = ''): string {
    checkKey(key)
    return join(this.#options.dir, folder, ...key.split('/'))
  }

  #sign({ key, expires, fileName }: Omit<SignedAddress, 'signature'>): string {
    return createHmac('sha256', this.#options.signingKey())
      .update(`${expires}\n${key}\n${fileName}`)
      .digest('base64url')
  }

  /**
   * Written under another name and renamed: whoever looks finds all of it or nothing, also after a
   * power cut.
   */
  async #keep(place: string, write: (draft: string) => Promise<void>): Promise<void> {
    const { dir, random } = this.#options
    const draft = join(dir, DRAFTS, random(12).toString('hex'))
    await mkdir(dirname(draft), { recursive: true, mode: 0o700 })
    await mkdir(dirname(place), { recursive: true, mode: 0o700 })
    try {
      await write(draft)
      await putInPlace(draft, place)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
    // A folder is durable once the one that it stands in is.
    for (
      let folder = dirname(dirname(place));
      folder.length >= dirname(dir).length;
      folder = dirname(folder)
    ) {
      await syncPath(folder)
      if (folder === dirname(folder)) return
    }
  }
}

/** A public address without a slash at its end. Throws for what is not an address of a server. */
export function parsePublicUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw new Error(
      `"${text.slice(0, 200)}" is not a public address: it must look like ` +
        'https://shop.example or https://shop.example/path',
    )
  }
  return url.href.replace(/\/+$/, '')
}

/** In a time that tells nothing of where the two differ. */
function equal(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Null for what is not there. */
async function orNull<T>(found: Promise<T>): Promise<T | null> {
  return found.catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error))) return null
    throw error
  })
}

/** Keys of the files in a folder and below it. */
async function filesBelow(dir: string, folder: string): Promise<string[]> {
  const entries = (await orNull(readdir(join(dir, folder), { withFileTypes: true }))) ?? []
  const found = await Promise.all(
    entries
      .filter(({ name }) => isKey(name))
      .map(async (entry) =>
        entry.isDirectory()
          ? filesBelow(dir, `${folder}${entry.name}/`)
          : entry.isFile()
            ? [folder + entry.name]
            : [],
      ),
  )
  return found.flat()
}

const CHUNK = 256 * 1_024

async function openObject(
  handle: FileHandle,
  readType: () => Promise<string | null>,
): Promise<OpenObject> {
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new ApiError('not_found', { message: NOT_THERE })
    const { size, mtimeMs, ino } = found
    return {
      size,
      contentType: (await readType()) ?? 'application/octet-stream',
      etag: `"${ino.toString(36)}-${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`,
      stream: (from, to) => streamOf(handle, from, to),
      close: () => handle.close(),
    }
  } catch (error) {
    await handle.close()
    throw error
  }
}

function streamOf(handle: FileHandle, from: number, to: number): ReadableStream<Uint8Array> {
  let at = from
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const length = Math.min(CHUNK, to + 1 - at)
          const { bytesRead, buffer } =
            length > 0
              ? await handle.read(Buffer.allocUnsafe(length), 0, length, at)
              : { bytesRead: 0, buffer: null }
          if (buffer && bytesRead === 0)
            throw new Error('an object became shorter while it was read')
          if (buffer) controller.enqueue(buffer.subarray(0, bytesRead))
          at += bytesRead
          if (at <= to) return
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        await handle.close()
      },
      cancel: () => handle.close(),
    },
    { highWaterMark: 0 },
  )
}
