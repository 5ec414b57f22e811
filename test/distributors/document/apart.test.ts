/** Documents that would take each other's files are refused before anything is read or sent. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { refuseShared } from '../../../lib/distributors/document/kept/apart.js'
import type { DistributorDocument } from '../../../lib/distributors/document/schema.js'
import { CSV, documentOf, feedOf } from './rig.js'

describe('documents and their folders', () => {
  let dir: string
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'qm-apart-'))
    for (const name of ['one', 'two', 'state']) mkdirSync(join(dir, name))
    symlinkSync(join(dir, 'one'), join(dir, 'link'))
  })
  after(() => rmSync(dir, { recursive: true, force: true }))

  const folder = (name: string) => ({ kind: 'folder', path: join(dir, name) })
  const ftp = (user: string) => ({
    kind: 'ftp',
    host: 'ftp.acme.example',
    user,
    password: '{password}',
  })
  const doc = (
    distid: string,
    connection: Record<string, unknown>,
    { path = 'in/{po}.txt', answers = 'out/ack*.csv', feed = 'items.csv' } = {},
  ): DistributorDocument => ({
    ...documentOf(connection, {
      feeds: [feedOf({ path: feed })],
      orders: {
        by: 'file',
        connection: 'main',
        path,
        po: { max: 20 },
        templates: {},
        answers: [
          {
            source: { connection: 'main', path: answers, read: CSV },
            tells: 'acknowledgement',
            columns: { po: 'po' },
          },
        ],
      },
    }),
    distid,
    name: distid,
  })
  const refused = (...documents: DistributorDocument[]) =>
    assert.throws.bind(null, () => refuseShared(documents, join(dir, 'state')))
  const taken = (...documents: DistributorDocument[]) => refuseShared(documents, join(dir, 'state'))

  test('two that write to one folder are refused, whatever way it is called', () => {
    for (const other of ['one', 'link'])
      refused(
        doc('A1', folder('one')),
        doc('B1', folder(other)),
      )(/A1 and B1 would both write orders to/)
    refused(
      doc('A1', ftp('{user}')),
      doc('B1', ftp('{user}'), { path: '/in/X-{po}.txt' }),
    )(/both write orders to/)
    taken(doc('A1', folder('one')), doc('B1', folder('two')))
    taken(doc('A1', ftp('{a_user}')), doc('B1', ftp('{b_user}')))
  })

  test('so are two that read the same answers', () => {
    refused(
      doc('A1', folder('one')),
      doc('B1', folder('one'), { path: 'b/{po}.txt' }),
    )(/A1 and B1 would both read answers in/)
    taken(
      doc('A1', folder('one'), { path: 'A-{po}.txt', answers: 'A-ack*.csv' }),
      doc('B1', folder('one'), { path: 'B-{po}.txt', answers: 'B-ack*.csv' }),
    )
  })

  test('and one that would take its own orders for answers, or for a feed', () => {
    refused(doc('A1', folder('one'), { path: 'x/{po}.csv', answers: 'x/*.csv' }))(
      /would be read, and is where its orders are put/,
    )
    refused(doc('A1', folder('one'), { path: '{po}.csv', feed: 'it*.csv' }))(
      /would be read, and is where its orders are put/,
    )
  })

  test('the state folder is no place for a document, and lies in none', () => {
    refused(doc('A1', folder('state')))(/state folder/)
    refused(doc('A1', { kind: 'folder', path: dir }))(/state folder/)
  })
})
