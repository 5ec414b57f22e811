import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SLUGS } from '../../lib/analytics/metrics/index.js'
import { builtin } from '../../lib/distributors/builtin/index.js'
import { SCENARIOS } from '../../lib/simulator/engine/scenarios/scenarios.js'
import { SIMULATED, profileOf } from '../../lib/simulator/profiles.js'
import { chartOf, figuresOf, growthOf } from '../../scripts/performance-chart.js'
import { commands } from '../../server/cli/commands/index.js'
import { run } from '../server/launcher.js'
import { parseCommand } from '../../server/cli/parse.js'

const FOLDER = join('data', 'guide')
const page = (name: string) => readFileSync(join(FOLDER, `${name}.md`), 'utf8')

describe('the guide', () => {
  test('names the scenarios that there are, each once', () => {
    const named = [
      ...page('simulator').matchAll(/^\| `([A-Z][A-Z<>a-z-]*)` \| .* \| .* \|$/gm),
    ].map((match) => match[1]!)
    assert.deepEqual(named.toSorted(), Object.keys(SCENARIOS).toSorted())
  })

  test('tells the class and the longest PO of every distributor that is played', () => {
    const rows = [...page('simulator').matchAll(/^\| (\w+) \| `(\w+)`.*? \| (\d+) \|/gm)].map(
      ([, distid, recovery, po]) => [distid, recovery, Number(po)],
    )
    assert.deepEqual(
      rows,
      SIMULATED.toSorted(
        (a, b) => rows.findIndex(([id]) => id === a) - rows.findIndex(([id]) => id === b),
      ).map((distid) => [distid, profileOf(distid)!.recovery, profileOf(distid)!.limits.po.max]),
    )
  })

  test('names only commands that there are, with options that they have', async () => {
    const helps = new Map<string, string>()
    for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.md'))) {
      for (const [, words] of readFileSync(join(FOLDER, name), 'utf8').matchAll(
        /`(?:quartermaster )?((?:orders|distributors|backup|restore|keys|rules) [^`]*)`/g,
      )) {
        const [command, ...rest] = words!.split(/ (?=--|[A-Z#<]|\S+\.json|\d)/)
        const help = helps.get(command!) ?? (await run('.', ...command!.split(' '), '--help')).out
        helps.set(command!, help)
        assert.match(help, /^Usage: /m, `${name}: ${words}`)
        for (const option of rest.filter((word) => word.startsWith('--') && word !== '--dir STATE'))
          assert.ok(help.includes(option.split(' ')[0]!), `${name}: ${words}`)
      }
    }
    assert.ok(helps.size > 6)
  })
})

/** From a heading to the next one of its depth. */
const section = (text: string, heading: string) =>
  text.slice(text.indexOf(`\n${heading}\n`)).split(/\n(?=## )/)[1]!

describe('the README', () => {
  const readme = readFileSync('README.md', 'utf8')
  const inFolders = (root: string) =>
    readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${root}/${name}`)

  test('fits on five screens, and its links lead to files and headings that there are', () => {
    const lines = readme.trimEnd().split('\n')
    assert.ok(lines.length <= 200, `${lines.length} lines`)
    assert.deepEqual(
      lines.filter((line) => line.length > 100),
      [],
    )
    const slug = (heading: string) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-')
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)
    assert.ok(links.length > 25)
    for (const link of links) {
      const [file, anchor] = link.split('#') as [string, string | undefined]
      const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map((match) =>
        slug(match[1]!),
      )
      if (anchor !== undefined) assert.ok(headings.includes(anchor), link)
    }
  })

  test('its lines, and those of its pages, are commands that there are, with options that they have', () => {
    const texts = [readme, page('first-feed'), section(page('operating'), '## Every day')]
    const shell = texts
      .flatMap((text) => [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)])
      .map((match) => match[1]!)
      .join('')
    const lines = [...shell.matchAll(/^quartermaster ((?:[^#\n"]|"[^"]*")+)/gm)].map((match) =>
      match[1]!.trim(),
    )
    assert.ok(lines.length > 15)
    for (const line of lines) {
      const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]!)
      assert.doesNotThrow(() => parseCommand(commands, words), line)
    }
  })

  test('counts rules, distributors, scenarios and metrics as they are', () => {
    const rules = readdirSync('data/rules')
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => JSON.parse(readFileSync(join('data/rules', file), 'utf8')) as unknown[])
    const words = ['six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve']
    const inWords = (count: number) => words[count - 6]!
    const played = inWords(SIMULATED.length)
    const told = [
      `${rules.length} starter rules`,
      `simulators of ${played} distributors`,
      `${played} distributors with ${Object.keys(SCENARIOS).length} scenarios`,
      `the ${inWords(builtin.length)} distributors,`,
      `${inWords(SLUGS.length)} metrics`,
    ]
    assert.deepEqual(
      told.filter((text) => !readme.includes(text)),
      [],
    )
    assert.ok(page('restrictions').includes(`\n${rules.length} rules of public law`))
  })

  test('its map has every folder of the library, and each folder of it is there', () => {
    const named = [...readme.matchAll(/^\| `(lib\/\w+)` \|/gm)].map((match) => match[1]!)
    assert.deepEqual(named.toSorted(), inFolders('lib').toSorted())
  })

  test('leads to a reason for every package', () => {
    const file = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >
    const { dependencies } = JSON.parse(
      readFileSync('scripts/conformance/package.json', 'utf8'),
    ) as typeof file
    const names = [
      file['dependencies'],
      file['optionalDependencies'],
      file['devDependencies'],
      dependencies,
    ].flatMap((list) => Object.keys(list!))
    assert.deepEqual(
      names.filter((name) => !page('packages').includes(name)),
      [],
    )
  })
})

describe('the page on performance', () => {
  test('has a chart that its table makes', () => {
    assert.equal(
      readFileSync(join(FOLDER, 'pictures', 'performance.svg'), 'utf8'),
      chartOf(page('performance')),
    )
    assert.equal(
      readFileSync(join(FOLDER, 'pictures', 'growth.svg'), 'utf8'),
      growthOf(page('performance')),
    )
  })

  test('says of each figure that misses its goal that it does', () => {
    const figures = figuresOf(page('performance'))
    assert.ok(figures.length > 25)
    for (const { job, label, share, isMissed } of figures)
      assert.equal(isMissed, share > 1, `${job}, ${label}: ${share}`)
  })
})
