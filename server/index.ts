/** The HTTP package: `createServer(app)` answers requests, `listen` puts it on a port. */
export { createServer } from './app.js'
export type { Server, ServerOptions } from './app.js'
export { listen } from './listen.js'
export type { Listening } from './listen.js'
