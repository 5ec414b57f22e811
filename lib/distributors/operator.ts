/** What the operator does with distributors. */
import { setMode } from './modes.js'

export const distributors = { setMode }
