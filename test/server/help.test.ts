/** The help of the command line has the words of the operations, and no second ones. */
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { allOperations } from '../../lib/app/operations/index.js'
import { unwrap } from '../../lib/core/endpoint/endpoint.js'
import type { Command } from '../../server/cli/command.js'
import { commands } from '../../server/cli/commands/index.js'
import { helpFor, overview } from '../../server/cli/help.js'
import { carriesOut } from '../../server/cli/operation-help.js'

const operationOf = (id: string) => {
  const found = allOperations.find((one) => one.id === id)
  assert.ok(found, `there is no operation ${id}`)
  return found
}

/** Each member of an input with what is said of it, those inside of others among them. */
function described(shape: z.ZodType): { name: string; text: string }[] {
  const at = unwrap(shape)
  if (at instanceof z.ZodArray) return described(at.element as z.ZodType)
  if (!(at instanceof z.ZodObject)) return []
  return Object.entries(at.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
    const text = member.description ?? unwrap(member)?.description
    return [...(text === undefined ? [] : [{ name, text }]), ...described(member)]
  })
}

const normal = (text: string) => text.toLowerCase().replaceAll(/\s+/g, ' ')
const carrying = commands.filter(({ operations }) => operations !== undefined)

describe('a command that carries out an operation', () => {
  test('says so where it has the name of one', () => {
    const kebab = (id: string) =>
      id.replace('.', ' ').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    const silent = allOperations.filter(({ id }) =>
      commands.some(({ name, operations }) => name === kebab(id) && operations === undefined),
    )
    assert.deepEqual(
      silent.map(({ id }) => id),
      [],
    )
    assert.ok(carrying.length > commands.length / 2)
  })

  for (const { name, summary, operations = [], effect } of carrying)
    test(`${name}: its summary is theirs`, () => {
      const [first, ...others] = operations.map(operationOf)
      const beginnings = [first!.summary, ...Object.values(first!.parts ?? {})]
      assert.ok(
        beginnings.some((text) => summary.startsWith(text)),
        summary,
      )
      for (const other of others)
        assert.ok(normal(summary).includes(`; or ${normal(other.summary)}`), summary)
      if (operations.some((id) => operationOf(id).effect === 'writes'))
        assert.equal(effect, 'writes')
    })

  test('has the words of a member for the option that sets it', () => {
    let compared = 0
    for (const { name, options = {}, positionals = [], help = {}, operations = [] } of carrying) {
      const members = operations.flatMap((id) =>
        Object.entries(operationOf(id).input.shape as Record<string, z.ZodType>),
      )
      for (const option of [...Object.keys(options), ...positionals]) {
        const member = option
          .replaceAll(/[<[\]>]/g, '')
          .toLowerCase()
          .replaceAll('-', '_')
        const texts = members
          .filter(([known]) => known === member)
          .flatMap(([, shape]) => shape.description ?? unwrap(shape)?.description ?? [])
        if (texts.length === 0) continue
        compared++
        assert.ok(
          texts.some((text) => normal(help[option] ?? '').includes(normal(text))),
          `${name} ${option}: "${help[option]}" is not "${texts.join('" or "')}"`,
        )
      }
    }
    assert.ok(compared > 60, `${compared}`)
  })

  test('is refused words of its own for a member', () => {
    const define = (help: Record<string, string>): Command =>
      carriesOut(allOperations, 'keys.rotate', {
        name: 'keys rotate',
        effect: 'writes',
        positionals: ['<ID>'],
        help,
        example: '',
        run: async () => {},
      })
    assert.match(define({}).help?.['<ID>'] ?? '', /key's id/)
    assert.throws(() => define({ '<ID>': 'which key' }), /words of its own for <ID>/)
    assert.throws(() => carriesOut(allOperations, 'keys.lend', { ...define({}) }), /keys\.lend/)
  })
})

test('no file of the command line repeats what a definition says', () => {
  const folder = new URL('../../server/cli/', import.meta.url).pathname
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  // A text that goes over several lines is one.
  const sources = files.map((file) => ({
    file,
    text: normal(readFileSync(join(folder, file), 'utf8').replaceAll(/['"`] \+\n\s*['"`]/g, '')),
  }))
  const texts = allOperations.flatMap(({ summary, parts = {}, input }) => [
    summary,
    ...Object.values(parts),
    ...described(input).map(({ text }) => text),
  ])
  const repeated = [...new Set(texts)]
    // Two or three words are no wording: `All shops`, `10 digits`.
    .filter((text) => text.split(' ').length > 3)
    .flatMap((text) =>
      sources
        .filter(({ text: source }) =>
          ["'", '"', '`'].some((q) => source.includes(q + normal(text))),
        )
        .map(({ file }) => `${file}: ${text}`),
    )
  assert.deepEqual(repeated, [])
})

test('on a terminal of 80 columns, the help breaks between words, and its columns stay columns', () => {
  const lines = overview(commands, { width: 80 }).split('\n')
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  assert.match(lines.join('\n'), /\n {2}keys list {14}Keys with their [^\n]+\n {25}text\n/)
  for (const command of commands) {
    const [told] = helpFor(command, 80).split('\n\nExample:')
    assert.deepEqual(
      told!.split('\n').filter((line) => line.length > 80),
      [],
      command.name,
    )
    assert.equal(normal(told!), normal(helpFor(command).split('\n\nExample:')[0]!), command.name)
  }
})
