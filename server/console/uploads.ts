/** Files that pages send, for operations that take one in. They lie in the state folder for a week. */
import { createWriteStream, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DAY } from '../../lib/core/clock.js'
import type { UploadedFile } from '../../lib/core/endpoint/operation.js'
import { ApiError, invalid } from '../../lib/core/errors.js'
import { MB, figure } from '../../lib/core/figures.js'
import { cleaned } from '../../lib/core/text.js'
import { needRoom } from '../../lib/feeds/import.js'
import type { App } from '../../lib/app/open.js'
import { refuseAnnounced } from './messages.js'

/** The catalog of a large distributor has some hundred megabytes. */
export const MOST_UPLOAD = 2_048 * MB
/** A refused feed waits in it for somebody who decides. */
const KEPT = 7 * DAY
const NAME = 100

export interface Uploads {
  take(request: IncomingMessage): Promise<{ upload: string; name: string; bytes: number }>
  find(id: string): UploadedFile
}

export function openUploads({ dir, ctx }: App): Uploads {
  const folder = join(dir, 'uploads')

  function sweep(): void {
    for (const id of readdirSync(folder)) {
      const age = ctx.now() - (statSync(join(folder, id), { throwIfNoEntry: false })?.mtimeMs ?? 0)
      if (age > KEPT) rmSync(join(folder, id), { recursive: true, force: true })
    }
  }

  return {
    async take(request) {
      const tooLarge = `A file has at most ${figure(MOST_UPLOAD)} bytes.`
      refuseAnnounced(request, MOST_UPLOAD, tooLarge)
      needRoom(ctx)
      const name = nameOf(request.headers['x-file-name'])
      const id = ctx.random(12).toString('hex')
      mkdirSync(join(folder, id), { recursive: true, mode: 0o700 })
      sweep()
      let bytes = 0
      const counted = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          bytes += chunk.length
          if (bytes > MOST_UPLOAD) done(new ApiError('payload_too_large', { message: tooLarge }))
          else done(null, chunk)
        },
      })
      try {
        const path = join(folder, id, name)
        await pipeline(request, counted, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
        if (bytes === 0) throw invalid('file', 'is empty')
        return { upload: id, name, bytes }
      } catch (error) {
        rmSync(join(folder, id), { recursive: true, force: true })
        throw error
      }
    },
    find(id) {
      const own = join(folder, id)
      const [name] =
        /^[0-9a-f]{24}$/.test(id) && statSync(own, { throwIfNoEntry: false })?.isDirectory()
          ? readdirSync(own)
          : []
      if (name === undefined) throw invalid('upload', 'is not there any more: send the file again')
      return { path: join(own, name), name }
    },
  }
}

/** A name that is one in any file system; `file` where nothing of it is left. */
function nameOf(header: string | string[] | undefined): string {
  let given = typeof header === 'string' ? header : ''
  try {
    given = decodeURIComponent(given)
  } catch {
    // It was not encoded.
  }
  const name = basename(cleaned(given, 300).replaceAll('\\', '/')).replaceAll(
    /[^\p{L}\p{N}._ -]/gu,
    '_',
  )
  return /[\p{L}\p{N}]/u.test(name) ? name.slice(-NAME) : 'file'
}
