import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SingleFlight } from '../../lib/core/async/single-flight.js'
import { openUnderWay } from '../../lib/core/async/under-way.js'
import { deadlineIn, inTime, nextTurn, pause } from '../../lib/core/async/wait.js'

const never = () => new Promise<never>(() => {})
const late = () => 'late' as const

describe('work in time', () => {
  test('answers as the work does', async () => {
    assert.equal(await inTime(async () => 1, { ms: 1_000, late }), 1)
    await assert.rejects(
      inTime(() => Promise.reject(new Error('its own')), { ms: 1_000, late }),
      /its own/,
    )
    await assert.rejects(
      inTime(
        () => {
          throw new Error('at once')
        },
        { ms: 1_000, late },
      ),
      /at once/,
    )
  })

  test('is given up after its time, and told so', async () => {
    let given: AbortSignal | undefined
    const answer = await inTime(
      (signal) => {
        given = signal
        return never()
      },
      { ms: 5, late },
    )
    assert.equal(answer, 'late')
    assert.equal(given!.aborted, true)
  })

  test('is not told so when it was in time', async () => {
    let given: AbortSignal | undefined
    await inTime(
      async (signal) => {
        given = signal
      },
      { ms: 5, late },
    )
    await pause(20)
    assert.equal(given!.aborted, false)
  })

  test('rejects with what `late` throws', async () => {
    const refuse = () => {
      throw new Error('too late')
    }
    await assert.rejects(inTime(never, { ms: 5, late: refuse }), /too late/)
  })

  for (const when of ['before', 'meanwhile'] as const)
    test(`ends with what it stands in, that ended ${when}`, async () => {
      const ending = new AbortController()
      if (when === 'before') ending.abort()
      const answer = inTime(never, { ms: 60_000, closing: ending.signal, late })
      ending.abort()
      assert.equal(await answer, 'late')
    })

  test('that rejects after it was given up is nobody’s error', async () => {
    const failing = () => pause(10).then(() => Promise.reject(new Error('unheard')))
    assert.equal(await inTime(failing, { ms: 1, late }), 'late')
    await pause(20)
  })

  test('leaves no timer and no listener', async () => {
    const ending = new AbortController()
    let listeners = 0
    const { signal } = ending
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    await inTime(async () => 1, { ms: 60_000, closing: signal, late })
    deadlineIn(60_000, signal).clear()
    assert.equal(listeners, 0)
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    assert.equal(after, before)
  })
})

test('a pause ends early with its signal, and does not reject', async () => {
  const ending = new AbortController()
  const waited = pause(60_000, ending.signal)
  ending.abort()
  await waited
})

describe('work that is shared', () => {
  test('is begun once for all who ask while it runs, and again afterwards', async () => {
    const flights = new SingleFlight<string, number>()
    let begun = 0
    const work = async () => {
      begun++
      await nextTurn()
      return begun
    }
    assert.deepEqual(await Promise.all([flights.run('a', work), flights.run('a', work)]), [1, 1])
    assert.equal(flights.has('a'), false)
    assert.equal(await flights.run('a', work), 2)
  })

  test('is kept apart by key', async () => {
    const flights = new SingleFlight<string, string>()
    const [a, b] = [flights.run('a', async () => 'a'), flights.run('b', async () => 'b')]
    assert.equal(flights.size, 2)
    assert.deepEqual(await Promise.all([a, b]), ['a', 'b'])
  })

  test('that fails is not kept, and its end is waited for', async () => {
    const flights = new SingleFlight<string, void>()
    const run = flights.run('a', () => Promise.reject(new Error('no')))
    const failed = assert.rejects(run, /no/)
    await flights.ended()
    await failed
    assert.equal(flights.size, 0)
  })
})

describe('work under way', () => {
  test('is waited for, one step at a time where it has several', async () => {
    const closing = new AbortController()
    const underWay = openUnderWay(closing.signal)
    const values = underWay.steps(async function* () {
      yield 1
      await pause(5)
      yield 2
      yield 3
    })
    assert.deepEqual(await values.next(), { done: false, value: 1 })
    await underWay.ended()
    let isDone = false
    const second = values.next().then((next) => {
      isDone = true
      return next
    })
    closing.abort()
    await underWay.ended()
    assert.equal(isDone, true)
    assert.deepEqual(await second, { done: false, value: 2 })
    await assert.rejects(values.next(), /^Error: closed$/)
  })

  test('lets what it steps through end when its reader leaves', async () => {
    let isOver = false
    const underWay = openUnderWay(new AbortController().signal)
    for await (const _ of underWay.steps(async function* () {
      try {
        yield 1
      } finally {
        isOver = true
      }
    }))
      break
    assert.equal(isOver, true)
  })

  test('within one turn of the loop is refused once the app closes', () => {
    const closing = new AbortController()
    const underWay = openUnderWay(closing.signal)
    assert.equal(
      underWay.runNow(() => 1),
      1,
    )
    closing.abort()
    assert.throws(() => underWay.runNow(() => 1), /^Error: closed$/)
  })
})
