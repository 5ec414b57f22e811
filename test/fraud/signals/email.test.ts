/** One string per mailbox: what each provider ignores, and what none does. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { normalizeEmail } from '../../../lib/fraud/signals/email.js'
import { cpuTime } from '../../harness/cpu-time.js'

/** The normalized form, then every spelling of it. */
function checkSame(rows: readonly (readonly string[])[]): void {
  for (const [wanted, ...spellings] of rows)
    for (const text of [wanted!, ...spellings]) assert.equal(normalizeEmail(text), wanted, text)
}

function checkDifferent(rows: readonly (readonly string[])[]): void {
  for (const row of rows) {
    const made = row.map((text) => normalizeEmail(text))
    assert.ok(!made.includes(null), `${row[made.indexOf(null)]} is an address`)
    assert.equal(new Set(made).size, row.length, `${row.join(' ')} -> ${made.join(' ')}`)
  }
}

describe('mailboxes', () => {
  test('by what their providers ignore', () => {
    checkSame([
      [
        'patdoe@gmail.com',
        'pat.doe@gmail.com',
        'p.a.t.d.o.e@gmail.com',
        'PatDoe@GMAIL.com',
        'patdoe+guns@gmail.com',
        'pat.doe+a+b@googlemail.com',
        'patdoe@googlemail.com',
      ],
      ['pat.doe@outlook.com', 'Pat.Doe+guns@outlook.com', 'pat.doe+@Outlook.com'],
      ['pat-doe@hotmail.co.uk', 'pat-doe+x@hotmail.co.uk'],
      ['pat_doe@live.com', 'PAT_DOE+1@live.com'],
      ['pat@msn.com', 'pat+x@msn.com'],
      [
        'pat.doe@icloud.com',
        'pat.doe+x@icloud.com',
        'pat.doe@me.com',
        'pat.doe@mac.com',
        'PAT.DOE+y@Me.com',
      ],
      [
        'patdoe@proton.me',
        'pat.doe@proton.me',
        'pat-doe@protonmail.com',
        'pat_doe+x@pm.me',
        'patdoe@protonmail.ch',
      ],
      [
        'pat-doe@yandex.ru',
        'pat.doe@yandex.ru',
        'pat-doe@ya.ru',
        'pat.doe+x@yandex.com',
        'pat-doe@yandex.by',
        'pat-doe@yandex.kz',
      ],
      [
        'pat@fastmail.com',
        'pat+x@fastmail.com',
        'anything@pat.fastmail.com',
        'x+y@pat.fastmail.com',
      ],
      ['pat@fastmail.fm', 'shop@pat.fastmail.fm'],
      ['pat.doe@yahoo.com', 'pat.doe-guns@yahoo.com', 'pat.doe-a-b@yahoo.com'],
      ['pat_doe@ymail.com', 'pat_doe-x@ymail.com'],
      ['pat.doe@hey.com', 'Pat.Doe+guns@hey.com'],
      ['pat@duck.com', 'pat+x@duck.com'],
      ['pat-doe@yandex.ru', 'pat.doe@yandex.az', 'pat-doe+x@yandex.fr', 'pat.doe@yandex.com.ge'],
      ['pat@hotmail.com.mx', 'pat+x@hotmail.com.mx'],
      ['pat@outlook.co.nz', 'pat+x@outlook.co.nz'],
      ['pat@zoho.com', 'pat+x@zoho.com'],
      ['pat@posteo.de', 'pat+x@posteo.de'],
    ])
  })

  test('and not by what they do not', () => {
    checkDifferent([
      // Workspace and other domains: nobody says that dots or tags are ignored.
      ['pat.doe@shop.example', 'patdoe@shop.example', 'pat.doe+x@shop.example'],
      [
        'pat.doe@outlook.com',
        'patdoe@outlook.com',
        'pat-doe@outlook.com',
        'pat.doe@hotmail.com',
        'pat.doe@live.com',
        'pat.doe@outlook.de',
      ],
      ['pat_doe@gmail.com', 'patdoe@gmail.com', 'pat-doe@gmail.com'],
      [
        'pat.doe@hey.com',
        'patdoe@hey.com',
        'pat-doe@hey.com',
        'pat.doe@duck.com',
        'patdoe@duck.com',
      ],
      ['pat@outlook.co.nz', 'pat@outlook.com', 'pat@outlook.nz', 'pat+x@outlook.nz'],
      ['pat@hotmail.com.mx', 'pat@hotmail.com'],
      ['pat@yandex.fr', 'pat@yandex.example'],
      [
        'patdoe@gmail.com',
        'patdoe@gmail.co',
        'patdoe@mail.com',
        'patdoe@gmai.com',
        'patdo@gmail.com',
      ],
      ['pat.doe@icloud.com', 'patdoe@icloud.com', 'pat.doe@apple.com'],
      [
        'pat@yahoo.com',
        'pat+x@yahoo.com',
        'pat@yahoo.co.uk',
        'pat@ymail.com',
        'p.at@yahoo.com',
        'pat_@yahoo.com',
      ],
      [
        'pat@fastmail.com',
        'pat@fastmail.fm',
        'p.at@fastmail.com',
        'a@b.pat.fastmail.com',
        'pat@sub.pat.fastmail.com',
      ],
      ['pat-doe@yandex.ru', 'patdoe@yandex.ru', 'pat_doe@yandex.ru'],
      ['patdoe@proton.me', 'patdoe1@proton.me', 'patdoe@proton.example'],
      ['pat@aol.com', 'pat+x@aol.com', 'pat-x@aol.com'],
      ['pat@gmx.com', 'pat+x@gmx.com', 'pat@gmx.net'],
      ['pat@comcast.net', 'pat+x@comcast.net', 'p.at@comcast.net'],
      ['pat.doe@zoho.com', 'patdoe@zoho.com'],
      ['x@pat.gmail.com', 'pat@gmail.com'],
      ['pat@example.com', 'pat@example.net'],
    ])
  })

  test('case, names of who it is, mailto, quotes and dots of the root', () => {
    checkSame([
      [
        'pat.doe@shop.example',
        'Pat.Doe@Shop.Example',
        ' pat.doe@shop.example ',
        'Pat Doe <pat.doe@shop.example>',
        '"Doe, Pat" <Pat.Doe@shop.example>',
        '<pat.doe@shop.example>',
        'mailto:pat.doe@shop.example',
        'MAILTO:pat.doe@shop.example?subject=Order',
        'pat.doe@shop.example.',
        '"pat.doe"@shop.example',
        '"pat\\.doe"@shop.example',
      ],
      ['pat@xn--bcher-kva.example', 'pat@Bücher.example', 'pat@bu\u0308cher.example'],
      ['"pat doe"@shop.example', '"Pat Doe"@shop.example', '"pat\\ doe"@shop.example'],
      ['jos\u00e9@shop.example', 'JOSE\u0301@shop.example'],
      ["o'brien@shop.example", "O'Brien@shop.example"],
    ])
    checkDifferent([
      ['"pat doe"@shop.example', 'patdoe@shop.example', '"pat  doe"@shop.example'],
      ['jos\u00e9@shop.example', 'jose@shop.example'],
      ['pat@b\u00fccher.example', 'pat@bucher.example'],
      ['"pat@home"@shop.example', 'pat@home.shop.example'],
    ])
  })

  test('what is none', () => {
    for (const text of [
      '',
      ' ',
      '@',
      'pat',
      'pat@',
      '@shop.example',
      'pat@shop',
      'pat@@shop.example',
      'pat doe@shop.example',
      'pat@shop example',
      '.pat@shop.example',
      'pat.@shop.example',
      'pat..doe@gmail.com',
      'pat@.example',
      'pat@shop..example',
      'pat@-shop.example',
      'pat@shop-.example',
      'pat@shop.example..',
      'pat@shop.123',
      'pat@192.0.2.1',
      'pat@[192.0.2.1]',
      '+tag@gmail.com',
      '...@gmail.com',
      '-x@yahoo.com',
      'pat,doe@shop.example',
      'pat@shop.example, sam@shop.example',
      'pat(home)@shop.example',
      '"pat@shop.example',
      '"pat"doe@shop.example',
      'pat\u0000@shop.example',
      'p\u200Bat@shop.example',
      'pat@sh_op.example',
      `${'a'.repeat(65)}@shop.example`,
      `pat@${'a'.repeat(64)}.example`,
      `pat@${'a.'.repeat(130)}example`,
      'a'.repeat(10_000),
      'pat@shop.example>',
      'pat at shop.example',
      'pat@shop.\u0000',
      'none@none.com',
      'none@gmail.com',
      'noemail@noemail.com',
      'NA@NA.com',
      'test@test.com',
      'email@email.com',
      'noreply@shop.example',
    ])
      assert.equal(normalizeEmail(text), null, JSON.stringify(text))
    for (const text of [
      'test@shop.example',
      'email@patdoe.com',
      'na@gmail.com',
      'nonesuch@gmail.com',
    ])
      assert.notEqual(normalizeEmail(text), null, text)
  })
})

const name = fc.stringMatching(/^[a-z][a-z0-9]{2,10}(?:[._-][a-z0-9]{1,6}){0,2}$/)
const domain = fc.constantFrom(
  'gmail.com',
  'googlemail.com',
  'outlook.com',
  'hotmail.com',
  'icloud.com',
  'me.com',
  'proton.me',
  'pm.me',
  'yandex.ru',
  'ya.ru',
  'yahoo.com',
  'fastmail.com',
  'zoho.com',
  'aol.com',
  'shop.example',
  'pat.fastmail.com',
)

describe('properties', () => {
  test('a normal form is its own normal form', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.tuple(name, domain).map(([local, host]) => `${local}@${host}`),
          fc.emailAddress(),
          fc.string(),
        ),
        (text) => {
          const made = normalizeEmail(text)
          if (made !== null) assert.equal(normalizeEmail(made), made)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('case and what stands around an address do not matter', () => {
    fc.assert(
      fc.property(name, domain, (local, host) => {
        const made = normalizeEmail(`${local}@${host}`)
        assert.equal(
          normalizeEmail(`  Some One <${local.toUpperCase()}@${host.toUpperCase()}> `),
          made,
        )
      }),
      { numRuns: 1_000 },
    )
  })

  test('other names at other domains are other mailboxes', () => {
    fc.assert(
      fc.property(
        name,
        name,
        fc.constantFrom('shop.example', 'aol.com', 'gmx.com'),
        (a, b, host) => {
          assert.equal(normalizeEmail(`${a}@${host}`) === normalizeEmail(`${b}@${host}`), a === b)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('long and odd input takes no time', () => {
    const started = cpuTime()
    for (const text of [
      '"'.repeat(399),
      `${'a.'.repeat(190)}@x.example`,
      '<'.repeat(399),
      `"${'\\a'.repeat(190)}"@x.example`,
      '@'.repeat(399),
      `${'.'.repeat(60)}@gmail.com`,
      'mailto:'.repeat(50),
    ])
      for (let i = 0; i < 200; i++) normalizeEmail(text)
    assert.ok(cpuTime() - started < 5_000)
  })
})
