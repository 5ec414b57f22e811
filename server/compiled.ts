/**
 * Runs a script from code that an earlier process compiled, also under Node 20, which has no cache
 * of that kind.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import * as zlib from 'node:zlib'

/**
 * Milliseconds after which the compiled code is written: a server has begun its work by then, and
 * what is compiled with it is what the next one needs. It stops the process for a twentieth of a
 * second, once for each release.
 */
const WARM = 10_000
/** Bytes before the code: the sums of the source and of the code. V8 looks at neither. */
const HEADER = 8

type Wrapped = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  __filename: string,
  __dirname: string,
) => void

/**
 * Runs a CommonJS file that is one function of `exports`, `require`, `module`, `__filename` and
 * `__dirname`, in ASCII. `folder` is where compiled code is kept; whoever may write there says what
 * this process does. Where it cannot be written, everything is compiled at each start. True where
 * the code of an earlier process was run.
 */
export function runCompiled(file: string, folder: string, warm = WARM): boolean {
  const bytes = readFileSync(file)
  const source = bytes.toString('latin1')
  const sum = zlib.crc32(bytes)
  const kept = join(folder, `compiled-${process.version}-${process.arch}`)
  const cachedData = readKept(kept, sum)
  const script = new Script(source, { filename: file, ...(cachedData && { cachedData }) })
  const isKept = cachedData !== undefined && script.cachedDataRejected === false
  if (!isKept) setTimeout(() => keep(kept, sum, script.createCachedData()), warm).unref()
  const run = script.runInThisContext() as Wrapped
  const module = { exports: {} }
  run.call(module.exports, module.exports, createRequire(file), module, file, dirname(file))
  return isKept
}

/** What is kept for this source, undamaged; undefined where there is none. */
function readKept(path: string, sum: number): Buffer | undefined {
  try {
    const kept = readFileSync(path)
    const code = kept.subarray(HEADER)
    const isWhole = kept.readUInt32LE(0) === sum && kept.readUInt32LE(4) === zlib.crc32(code)
    return isWhole ? code : undefined
  } catch {
    return undefined
  }
}

function keep(path: string, sum: number, code: Buffer): void {
  const draft = `${path}.${process.pid}`
  const header = Buffer.alloc(HEADER)
  header.writeUInt32LE(sum, 0)
  header.writeUInt32LE(zlib.crc32(code), 4)
  try {
    writeFileSync(draft, Buffer.concat([header, code]), { mode: 0o600 })
    renameSync(draft, path)
  } catch {
    // Not this process's folder, or a full disk: the next start takes as long as this one.
    rmSync(draft, { force: true })
  }
}
