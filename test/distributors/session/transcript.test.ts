import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { CallFault } from '../../../lib/distributors/session/http.js'
import { Transcript } from '../../../lib/distributors/session/transcript.js'
import type { Recorded } from '../../../lib/distributors/session/transcript.js'

const SECRET = 'pä"ss w&rd/1'
const TOKEN = 'token-4711'

function made(): Transcript {
  let now = 1_000
  return new Transcript(() => (now += 5), [SECRET, 'abc'])
}

const answerOf = (text: string) => async () => ({
  status: 200,
  body: Buffer.from(text),
})

const record = (
  transcript: Transcript,
  call: Recorded,
  run: () => Promise<{ status: number; body: Buffer }>,
) => transcript.record(call, run, ({ status, body }) => ({ status, answer: body.toString() }))

describe('a transcript', () => {
  test('has every call with its answer, or why there was none', async () => {
    const transcript = made()
    await record(transcript, { method: 'POST', path: 'a', body: 'x' }, answerOf('y'))
    await assert.rejects(
      record(transcript, { method: 'GET', path: 'b' }, async () => {
        throw new CallFault('the connection was broken off', true, undefined)
      }),
      CallFault,
    )
    assert.deepEqual(transcript.told(), [
      {
        at: 1_005,
        took: 5,
        method: 'POST',
        path: 'a',
        headers: {},
        request: 'x',
        status: 200,
        answer: 'y',
        fault: null,
      },
      {
        at: 1_015,
        took: 5,
        method: 'GET',
        path: 'b',
        headers: {},
        request: null,
        status: null,
        answer: null,
        fault: 'the connection was broken off',
      },
    ])
  })

  for (const [form, written] of [
    ['as it is', SECRET],
    ['in JSON', JSON.stringify({ Password: SECRET })],
    [
      'in JSON of .NET',
      SECRET.replaceAll(/[ä"&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`),
    ],
    ['in an address', `?p=${encodeURIComponent(SECRET)}`],
    ['in a form', new URLSearchParams({ Password: SECRET }).toString()],
    ['in base64', Buffer.from(SECRET).toString('base64')],
    ['as its MD5', createHash('md5').update(SECRET).digest('hex')],
  ] as const)
    test(`holds no secret ${form}, wherever it stands`, async () => {
      const transcript = made()
      await record(
        transcript,
        { method: 'POST', path: `x/${written}`, body: written, headers: { token: written } },
        answerOf(`you sent ${written}`),
      )
      await record(transcript, { method: 'GET', path: '' }, async () => {
        throw new Error(`refused ${written}`)
      }).catch(() => {})
      const text = JSON.stringify(transcript.told())
      assert.ok(!text.includes(JSON.stringify(written).slice(1, -1)), text)
      assert.equal(text.split('[credential]').length - 1, 5)
    })

  test('holds nothing that is hidden later, and no part of a longer secret', async () => {
    const transcript = made()
    await record(transcript, { method: 'POST', path: 'login' }, answerOf(`{"token":"${TOKEN}"}`))
    transcript.hide('token')
    transcript.hide(TOKEN)
    assert.equal(transcript.told()[0]!.answer, '{"[credential]":"[credential]"}')
  })

  test('does not take a text of three letters for a secret', async () => {
    const transcript = made()
    await record(transcript, { method: 'GET', path: 'abc' }, answerOf('abc'))
    assert.equal(transcript.told()[0]!.answer, 'abc')
  })

  test('keeps 16,384 characters of a body and the last 50 calls', async () => {
    const transcript = made()
    for (let i = 0; i <= 50; i++)
      await record(
        transcript,
        { method: 'POST', path: String(i), body: 'b'.repeat(16_384 + (i % 2)) },
        answerOf(''),
      )
    const told = transcript.told()
    assert.deepEqual([told.length, told[0]!.path, told.at(-1)!.path], [50, '1', '50'])
    assert.equal(told.at(-1)!.request, 'b'.repeat(16_384))
    assert.equal(told[0]!.request, `${'b'.repeat(16_384)}… (16385 characters)`)
  })
})
