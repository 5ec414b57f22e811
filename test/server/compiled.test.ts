/** Code that is compiled once: what the next process runs, and what it must never run. */
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { runCompiled } from '../../server/compiled.js'

const ran = globalThis as { ran?: unknown }
const saying = (word: string) =>
  `(function (exports, require, module, __filename, __dirname) {
    const said = (word) => word.repeat(2)
    globalThis.ran = [said('${word}'), this === module.exports && exports === this,
      require('node:path').relative(__dirname, __filename)]
  })`

describe('a script whose compiled code is kept', () => {
  let scratch: string
  let file: string
  let folder: string
  before(() => {
    scratch = mkdtempSync(join(tmpdir(), 'qm-compiled-'))
    file = join(scratch, 'program.cjs')
  })
  beforeEach(() => {
    folder = mkdtempSync(join(scratch, 'kept-'))
    writeFileSync(file, saying('one'))
  })
  after(() => {
    rmSync(scratch, { recursive: true, force: true })
    delete ran.ran
  })

  const kept = () => readdirSync(folder).map((name) => join(folder, name))
  const run = () => {
    delete ran.ran
    const isKept = runCompiled(file, folder, 0)
    return { isKept, ran: ran.ran }
  }
  /** Runs it, and waits until its code is there: whole, as it is put in place by its name. */
  const runAndKeep = async () => {
    const before = kept().map((path) => statSync(path).ino)
    const result = run()
    const isNew = (path: string) =>
      !path.endsWith(`${process.pid}`) && !before.includes(statSync(path).ino)
    while (!kept().some(isNew)) await new Promise(setImmediate)
    return result
  }

  test('runs as a module does, and the next time from what was kept', async () => {
    const answer = ['oneone', true, 'program.cjs']
    assert.deepEqual(await runAndKeep(), { isKept: false, ran: answer })
    assert.equal(kept().length, 1)
    assert.equal(statSync(kept()[0]!).mode & 0o777, 0o600)
    assert.deepEqual(run(), { isKept: true, ran: answer })
  })

  // V8 compares no more than the length.
  test('is compiled anew when it has changed, also where it is as long as before', async () => {
    await runAndKeep()
    writeFileSync(file, saying('two'))
    const { isKept, ran: answer } = await runAndKeep()
    assert.deepEqual([isKept, (answer as string[])[0]], [false, 'twotwo'])
    assert.equal(run().isKept, true)
  })

  // V8 would run it, and the process would end with a signal.
  test('is compiled anew where one bit of what was kept is another, or some of it is missing', async () => {
    await runAndKeep()
    const [path] = kept()
    const whole = readFileSync(path!)
    for (const at of [0, 5, 8, 40, whole.length >> 1, whole.length - 1]) {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1
      writeFileSync(path!, damaged)
      assert.deepEqual(run(), { isKept: false, ran: ['oneone', true, 'program.cjs'] }, `byte ${at}`)
    }
    for (const length of [0, 3, 8, whole.length - 1]) {
      writeFileSync(path!, whole.subarray(0, length))
      assert.equal(run().isKept, false, `${length} bytes`)
    }
  })

  test('runs where nothing can be kept, and leaves nothing behind', async () => {
    folder = join(scratch, 'missing')
    for (let i = 0; i < 2; i++) {
      delete ran.ran
      assert.equal(runCompiled(file, folder, 0), false)
      assert.ok(ran.ran)
      await new Promise((done) => {
        setTimeout(done, 20)
      })
    }
    assert.equal(existsSync(folder), false)
  })
})
