/** What the operator does with who may use the console. */
import { makeLink, resetUser } from './links.js'
import { endSession, listSessions } from './sessions.js'
import { listUsers, removeUser } from './users.js'

export const people = {
  users: listUsers,
  link: makeLink,
  reset: resetUser,
  remove: removeUser,
  sessions: listSessions,
  revoke: endSession,
}
