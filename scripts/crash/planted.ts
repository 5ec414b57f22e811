/**
 * Bugs that the crash simulation must find. Those of real processes and real disks are in
 * rig/plants.ts.
 */
import type { Planted } from '../plants/seam.js'
import { BOOKS } from './plants/books.js'
import { GUARDS } from './plants/guards.js'
import { OUTCOMES } from './plants/outcomes.js'
import { SENDING } from './plants/sending.js'

export const PLANTS: readonly Planted[] = [...SENDING, ...OUTCOMES, ...GUARDS, ...BOOKS]
