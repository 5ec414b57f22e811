/** What the operator does with events, and who is told of them. */
import { listEvents, tellTest } from './events.js'
import { addMail, addWebhook, listReceivers, removeReceiver } from './receivers.js'

export const events = {
  list: listEvents,
  receivers: listReceivers,
  addWebhook,
  addMail,
  remove: removeReceiver,
  test: tellTest,
}
