/**
 * Where a download goes: a file that is there as a whole or not at all, or a stream of the
 * caller's.
 */

export interface Sink {
  write(piece: Uint8Array): Promise<void>
  /** All is there: it is on the disk, or the stream is closed. */
  finish(): Promise<void>
  /** A file takes its name. */
  publish(): Promise<void>
  /** Leaves nothing behind. */
  discard(error: unknown): Promise<void>
}

/** A file under a draft's name in the same folder, which is renamed once it is on the disk. */
export async function fileSink(path: string): Promise<Sink> {
  const { open, rename, rm, dirname } = nodeFiles()
  const draft = `${path}.${crypto.randomUUID()}.part`
  const handle = await open(draft, 'wx')
  const close = async () => {
    await handle.close()
  }
  return {
    write: (piece) => handle.appendFile(piece),
    async finish() {
      await handle.sync()
      await close()
    },
    async publish() {
      await rename(draft, path)
      // The name is durable once its folder is.
      const folder = await open(dirname(path), 'r').catch(() => null)
      await folder?.sync().catch(() => {})
      await folder?.close()
    },
    async discard() {
      await close()
      await rm(draft, { force: true })
    },
  }
}

/** Rejects for a file that could not be written, before anything is asked of a server. */
export async function checkFile(path: string): Promise<void> {
  const { access, constants, stat, dirname } = nodeFiles()
  await access(dirname(path), constants.W_OK | constants.X_OK)
  if ((await stat(path).catch(() => null))?.isDirectory())
    throw new TypeError(`${path} is a folder: name the file`)
}

/**
 * What Node has built in, asked for at run time: a bundler for browsers would look for whatever is
 * imported. Throws a TypeError where there is no Node.
 */
function nodeFiles() {
  const node = (globalThis as { process?: Partial<NodeJS.Process> }).process
  if (!node?.getBuiltinModule)
    throw new TypeError('only Node writes a file by its path: give a WritableStream instead')
  return {
    ...node.getBuiltinModule('node:fs/promises'),
    dirname: node.getBuiltinModule('node:path').dirname,
  }
}

export function streamSink(stream: WritableStream<Uint8Array>): Sink {
  const writer = stream.getWriter()
  return {
    write: (piece) => writer.write(piece),
    finish: () => writer.close(),
    publish: async () => {},
    async discard(error) {
      await writer.abort(error).catch(() => {})
    },
  }
}
