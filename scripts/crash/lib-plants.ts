/** Texts that the harness replaces in what it runs: places to die at, and faults that it must find. */
import type { Patch } from './lib-bundle.js'

/** In the simulated distributors only: a place to die at behind every call, and an end of all faults once a run lets all settle. */
export const PROBES: readonly Patch[] = [
  {
    file: 'lib/simulator/orders/call.ts',
    find: '  if (fault) await meet(',
    replace: '  ;(globalThis as { crashProbe?: (step: string) => void }).crashProbe?.(\'distributor called\')\n  if (fault) await meet(',
  },
  {
    file: 'lib/simulator/orders/scenarios.ts',
    find: 'return percent === undefined ? 0 :',
    replace: 'return percent === undefined || (globalThis as { crashCalm?: boolean }).crashCalm ? 0 :',
  },
]
