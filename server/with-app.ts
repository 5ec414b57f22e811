import { open } from '../lib/open.js'
import type { App, OpenOptions } from '../lib/open.js'
import { secretKeyFromEnvironment } from './env.js'

/** Opens the folder for one command, and closes it whatever happens. */
export async function withApp<T>(dir: string, use: (app: App) => Promise<T>, options: OpenOptions = {}): Promise<T> {
  const app = await open({ dir, actor: 'cli', worker: false, ...secretKeyFromEnvironment(), ...options })
  try {
    return await use(app)
  } finally {
    await app.close()
  }
}
