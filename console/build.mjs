/**
 * Builds the console: one script, one style and one picture, each with its digest in its name, and
 * the page that names them.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'

/** Bytes that all files of the page may have together, compressed. */
export const MOST_BYTES = 200_000

/**
 * Writes the files of the console into a folder; tells the sources that went into them, and their
 * bytes as a browser gets them.
 */
export async function buildConsole(outdir, { minify = true } = {}) {
  const { outputFiles, metafile } = await esbuild.build({
    entryPoints: { console: 'console/main.tsx' },
    bundle: true,
    write: false,
    outdir,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox121', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  const made = (extension) => outputFiles.find(({ path }) => path.endsWith(extension)).contents
  const files = {
    script: named('console', '.js', made('.js')),
    style: named('console', '.css', made('.css')),
    icon: named('icon', '.svg', readFileSync('console/icon.svg')),
  }
  const html = readFileSync('console/index.html', 'utf8').replace(
    /\{(script|style|icon)\}/g,
    (_, part) => `/console/${files[part].name}`,
  )
  mkdirSync(outdir, { recursive: true })
  for (const { name, content } of Object.values(files)) writeFileSync(join(outdir, name), content)
  writeFileSync(join(outdir, 'index.html'), html)
  const bytes = [html, ...Object.values(files).map(({ content }) => content)]
    .map((content) => gzipSync(content).length)
    .reduce((sum, length) => sum + length, 0)
  return { inputs: Object.keys(metafile.inputs), bytes }
}

/** A file whose name tells its content, so that it can be kept for ever. */
function named(stem, extension, content) {
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 10)
  return { name: `${stem}-${digest}${extension}`, content }
}
