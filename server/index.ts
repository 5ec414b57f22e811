/** The HTTP package: `createServer(app)` answers requests, `listen` puts it on a port. */
export { createServer } from './http/app.js'
export type { Server, ServerOptions } from './http/app.js'
export { listen } from './http/listen.js'
export type { Listening } from './http/listen.js'
