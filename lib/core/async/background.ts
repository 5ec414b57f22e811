/** Long work off the main thread, as those who need it see it. */
import type { Progress } from './progress.js'

/** What a worker can do, by name. */
type Tasks<T> = { [N in keyof T]: (input: never, onProgress?: Progress) => unknown }

export interface Background<T extends Tasks<T>> {
  /** Runs one task after the tasks before it. Rejects with what the task threw. */
  run<N extends keyof T>(
    name: N,
    input: Parameters<T[N]>[0],
    onProgress?: Progress,
  ): Promise<Awaited<ReturnType<T[N]>>>
  close(): Promise<void>
}
