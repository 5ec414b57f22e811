/** The files of the page: what the build made of it, and nothing else. */
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Seen from this module: from the bundle of the command, and from the tree. */
const PLACES = ['./console', '../../dist/quartermaster/console']
const PAGE = 'index.html'

/** Nothing of another origin, nothing inline, no frame around it. */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'content-security-policy': PAGE_POLICY,
} as const

export interface PageFiles {
  /** Answers where the path is one of the page; false where it is none. */
  send(path: string, response: ServerResponse, isHead: boolean): Promise<boolean>
}

interface PageFile {
  type: string
  body: Buffer
}

/** Files are read once, when the first is asked for. */
export function openPageFiles(folder = findFolder()): PageFiles {
  let reading: Promise<ReadonlyMap<string, PageFile>> | undefined
  return {
    async send(path, response, isHead) {
      const files = await (reading ??= readFiles(folder))
      const isPage = path === '/'
      const file = files.get(isPage ? PAGE : (/^\/console\/([\w.-]+)$/.exec(path)?.[1] ?? ''))
      if (!file && isPage) {
        answer(response, 503, { type: 'text/plain; charset=utf-8', body: NOT_BUILT }, isHead, path)
        return true
      }
      if (!file || (!isPage && path.endsWith(`/${PAGE}`))) return false
      answer(response, 200, file, isHead, path)
      return true
    },
  }
}

const NOT_BUILT = Buffer.from('The page of the console was not built: run `npm run build`.\n')

function answer(
  response: ServerResponse,
  status: number,
  { type, body }: PageFile,
  isHead: boolean,
  path: string,
): void {
  response.writeHead(status, {
    ...HEADERS,
    'content-type': type,
    'content-length': body.length,
    // A name with the digest of its content in it never means anything else.
    'cache-control': /-[0-9a-f]{10}\.\w+$/.test(path)
      ? 'public, max-age=31536000, immutable'
      : 'no-cache',
  })
  response.end(isHead ? undefined : body)
}

function findFolder(): string | null {
  const places = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)))
  return places.find((place) => existsSync(join(place, PAGE))) ?? null
}

async function readFiles(folder: string | null): Promise<ReadonlyMap<string, PageFile>> {
  if (folder === null) return new Map()
  const names = (await readdir(folder)).filter((name) => extname(name) in TYPES)
  return new Map(
    await Promise.all(
      names.map(
        async (name) =>
          [
            name,
            { type: TYPES[extname(name)]!, body: await readFile(join(folder, name)) },
          ] as const,
      ),
    ),
  )
}
