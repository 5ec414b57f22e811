import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SCENARIOS } from '../lib/simulator/orders/scenarios.js'
import { SIMULATED, profileOf } from '../lib/simulator/orders/profiles.js'
import { run } from './launcher.js'

const FOLDER = join('data', 'guide')
const page = (name: string) => readFileSync(join(FOLDER, `${name}.md`), 'utf8')

describe('the guide', () => {
  test('names the scenarios that there are, each once', () => {
    const named = [...page('simulator').matchAll(/^\| `([A-Z][A-Z<>a-z-]*)` \| .* \| .* \|$/gm)].map((match) => match[1]!)
    assert.deepEqual(named.toSorted(), Object.keys(SCENARIOS).toSorted())
  })

  test('tells the class and the longest PO of every distributor that is played', () => {
    const rows = [...page('simulator').matchAll(/^\| (\w+) \| `(\w+)`.*? \| (\d+) \|/gm)].map(([, distid, recovery, po]) => [distid, recovery, Number(po)])
    assert.deepEqual(rows, SIMULATED.toSorted((a, b) => rows.findIndex(([id]) => id === a) - rows.findIndex(([id]) => id === b)).map((distid) => [distid, profileOf(distid)!.recovery, profileOf(distid)!.limits.po.max]))
  })

  test('names only commands that there are, with options that they have', async () => {
    const helps = new Map<string, string>()
    for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.md'))) {
      for (const [, words] of readFileSync(join(FOLDER, name), 'utf8').matchAll(/`(?:quartermaster )?((?:orders|distributors|backup|restore|keys|rules) [^`]*)`/g)) {
        const [command, ...rest] = words!.split(/ (?=--|[A-Z#<]|\S+\.json|\d)/)
        const help = helps.get(command!) ?? (await run('.', ...command!.split(' '), '--help')).out
        helps.set(command!, help)
        assert.match(help, /^Usage: /m, `${name}: ${words}`)
        for (const option of rest.filter((word) => word.startsWith('--') && word !== '--dir STATE')) assert.ok(help.includes(option.split(' ')[0]!), `${name}: ${words}`)
      }
    }
    assert.ok(helps.size > 6)
  })
})
