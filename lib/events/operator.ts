/** What the operator does with events. */
import { listEvents } from './events.js'

export const events = { list: listEvents }
