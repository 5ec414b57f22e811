/** One worker: epochs, one after the other, told to whoever started it as lines of JSON. */
import { rmSync } from 'node:fs'
import { runEpoch } from './epoch.js'
import { makeTemplate } from './shop.js'

const [first = '1', stride = '1', epochs = '1', requests = '20000', socketShare = '2', stop = ''] =
  process.argv.slice(2)
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

const template = await makeTemplate()
try {
  for (let i = 0; i < Number(epochs); i++) {
    const seed = Number(first) + i * Number(stride)
    let told = Date.now()
    const result = await runEpoch({
      template,
      seed,
      requests: Number(requests),
      socketShare: Number(socketShare),
      stopAtFirst: stop === 'stop',
      onProgress(done) {
        if (Date.now() - told < 5_000) return
        told = Date.now()
        say({ progress: done, seed })
      },
    })
    say({ result, seed })
  }
} finally {
  rmSync(template.dir, { recursive: true, force: true })
}
// A timer that is left would keep the process: it is asked after, and told.
const left = process
  .getActiveResourcesInfo()
  .filter((name) => name === 'Timeout' || name === 'Immediate')
say({ done: true, left })
