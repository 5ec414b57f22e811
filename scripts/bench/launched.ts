/** The server as a user starts it: the launcher of the bundled program, in a process of its own. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

export interface Launched {
  child: ChildProcess
  /** Resolves with the time at which the log said that all of it is there. */
  ready: Promise<number>
  url: string
  /** The demo's own; of `demo` alone. */
  key: string
}

export interface Launch {
  command: 'demo' | 'serve'
  dir: string
  options?: readonly string[]
  env?: Readonly<Record<string, string>>
  /** Told of the process at once: it is to be ended should the start fail. */
  begun?: (child: ChildProcess) => void
}

/** Resolves once it says where it listens. Warnings and errors of its log are printed. */
export async function launch(
  launcher: string,
  { command, dir, options = [], env = {}, begun = () => {} }: Launch,
): Promise<Launched> {
  const args = [command, '--dir', dir, '--port', '0', '--json', ...options]
  const child = spawn(launcher, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, QUARTERMASTER_LOG: 'info', ...env },
  })
  begun(child)
  const ready = new Promise<number>((done) => {
    createInterface({ input: child.stderr }).on('line', (text) => {
      if (text.includes('"the server is ready"')) done(performance.now())
      else if (!text.includes('"level":30')) console.error(text)
    })
  })
  const line = await new Promise<string>((done, fail) => {
    createInterface({ input: child.stdout }).once('line', done)
    child.once('exit', (code) => fail(new Error(`ended with ${code}`)))
  })
  return { child, ready, ...(JSON.parse(line) as Pick<Launched, 'url' | 'key'>) }
}
