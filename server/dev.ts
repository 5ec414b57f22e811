/**
 * `npm run dev`: the demo behind a development server that shows its address and restarts on a
 * change.
 */
import { listen } from 'listhen'
import { open } from '../lib/app/open.js'
import { prepareDemo } from '../lib/app/demo.js'
import { createServer } from './http/app.js'
import { stateDir } from './env.js'
import { openLog } from './log.js'

const app = await open({
  dir: stateDir(undefined),
  log: openLog('debug'),
  worker: false,
  actor: 'dev',
})
const { key } = await prepareDemo(app)
app.jobs.start()
await listen(createServer(app).nodeHandler, {
  port: 8080,
  hostname: '127.0.0.1',
  isProd: false,
  autoClose: true,
})
process.stdout.write(`Key: ${key}\n`)
