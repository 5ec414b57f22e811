/** What a server does about files that somebody takes away from under it. */
import type { App } from '../lib/app/open.js'
import { MINUTE } from '../lib/core/clock.js'

/** How often it looks, in milliseconds. */
const WATCH = 500

/**
 * Has the catalog look for what other processes wrote, and looks whether the files are still there;
 * returns what ends it. A failure is told once until it is over: the requests that need the catalog
 * answer for themselves, and the next look may find the file whole again.
 *
 * `end` ends the process: by restarting, where the system of record is whole again.
 */
export function watchFiles(
  app: App,
  { every = WATCH, end }: { every?: number; end: (code: number) => void },
): () => void {
  const lookAtCatalog = catalogWatch(app)
  const timer = setInterval(() => {
    if (isGone(app, 'record')) {
      clearInterval(timer)
      return rescue(app, end)
    }
    lookAtCatalog()
  }, every).unref()
  return () => clearInterval(timer)
}

/** What cannot be looked at for the moment is taken to be there. */
function isGone({ ctx }: App, name: 'record' | 'catalog'): boolean {
  try {
    return ctx.engine.isGone(name)
  } catch {
    return false
  }
}

/** Orders that came since the file was gone are in the open handles alone. */
function rescue({ ctx }: App, end: (code: number) => void): void {
  try {
    const { path, isInPlace } = ctx.engine.rescueRecord(ctx.now())
    ctx.log.error(
      { path },
      isInPlace
        ? 'quartermaster.db was removed under the running server, and was written again from ' +
            'what is open: the server ends, to be started over it'
        : 'quartermaster.db was replaced under the running server, whose own state lies beside ' +
            'it now: the server ends; put the right one of the two in place before it starts',
    )
    end(isInPlace ? 1 : 70)
  } catch (error) {
    ctx.log.error(
      { err: error },
      'quartermaster.db was removed under the running server, and cannot be written again',
    )
    end(70)
  }
}

function catalogWatch(app: App): () => void {
  const { ctx } = app
  let failing = false
  let mending = false
  let triedAt = -Infinity

  async function mend(): Promise<void> {
    mending = true
    triedAt = ctx.monotonic()
    ctx.log.error(
      {},
      'catalog.db was removed or replaced under the running server: the last snapshot serves on, ' +
        'and the file is written again',
    )
    try {
      await ctx.engine.writeCatalogBack()
      ctx.log.warn({}, 'catalog.db is there again')
    } catch (error) {
      ctx.log.error({ err: error }, 'catalog.db cannot be written again; it is tried once a minute')
    } finally {
      mending = false
    }
  }

  return () => {
    try {
      if (!mending && ctx.monotonic() - triedAt > MINUTE && isGone(app, 'catalog')) void mend()
      ctx.catalog.current()
      failing = false
    } catch (error) {
      if (!failing)
        ctx.log.error(
          { err: error },
          'the catalog file cannot be read; the last snapshot serves on',
        )
      failing = true
    }
  }
}
