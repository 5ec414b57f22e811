/**
 * Moves the system of record out of PostgreSQL into a folder. It is put together and proved beside
 * what the folder has; then the database is marked, so that no node serves it any more, and then the
 * files get their names. A run that was cut off anywhere is run again.
 */
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Secrets } from '../../core/storage/secrets.js'
import { countContent, isSame } from '../../db/move/digest.js'
import type { TableContent } from '../../db/move/digest.js'
import { givenNumbers, readTable } from '../../db/move/postgres-tables.js'
import {
  APPLICATION,
  ONE_STATE,
  connectForMove,
  holdTables,
  isEmpty,
  readMove,
  refuseNodes,
  refuseWrites,
  within,
  writeMove,
} from '../../db/move/postgres-state.js'
import type { MoveClient } from '../../db/move/postgres-state.js'
import { readTable as readStaged, writerOf } from '../../db/move/sqlite-tables.js'
import { MOVED_TABLES } from '../../db/move/tables.js'
import type { Row, TableShape } from '../../db/move/tables.js'
import { readAddress } from '../../db/postgres/address.js'
import { openPostgres } from '../../db/postgres/connect.js'
import type { Postgres } from '../../db/postgres/connect.js'
import { moveLine } from '../../db/postgres/moved.js'
import type { Move } from '../../db/postgres/moved.js'
import { migratePostgres } from '../../db/postgres/schema.js'
import { readerOver } from '../../db/query.js'
import type { Reader } from '../../db/query.js'
import { movedLine } from '../../db/sqlite/moved.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { lockFolder } from '../folder-lock.js'
import { findKey, openClosed } from '../look/closed-folder.js'
import { DOCUMENTS, documentRows, hasDocuments, writeDocuments } from './documents.js'
import { keepFraudKeys, readFraudKeys } from './fraud-keys.js'
import { bringHistoryIn, publishedHistory, refuseNewer, reportOfHistory } from './history.js'
import type { PublishedHistory } from './history.js'
import { Progress } from './input.js'
import type { HistoryReport, MoveInput, MoveReport } from './input.js'
import { reportOf } from './report.js'
import type { RunEnd } from './report.js'
import { damageIn, hasRecord, installationOf, markIn, proveChains } from './source-folder.js'
import { shapesOf, stageFolder } from './target-folder.js'
import type { StagedFolder } from './target-folder.js'

/** Moves a record into a folder. Throws an Error of one line that says what is in the way. */
export async function moveFromPostgres(given: MoveInput): Promise<MoveReport> {
  const input = { ...given, dir: resolve(given.dir) }
  const address = readAddress(input.address)
  const postgres = await openPostgres(input.address, { application: APPLICATION })
  try {
    const client = await connectForMove(postgres)
    try {
      const database = `the database ${address.database} at ${address.host}:${address.port}`
      return await new Departure({ input, postgres, client, database }).run()
    } finally {
      await client.end()
    }
  } finally {
    await postgres.close()
  }
}

interface DepartureOptions {
  input: MoveInput
  postgres: Postgres
  client: MoveClient
  database: string
}

class Departure {
  readonly #input: MoveInput
  readonly #postgres: Postgres
  readonly #client: MoveClient
  readonly #database: string
  readonly #place: string
  /** What is a table in the folder, too. */
  readonly #tables = shapesOf(MOVED_TABLES)
  readonly #shapes = [...this.#tables, DOCUMENTS]
  readonly #progress: Progress
  readonly #contents = new Map<string, TableContent>()
  readonly #took = new Map<string, number>()
  /** What the nodes have of the history; null where nothing of it moves. */
  #published: PublishedHistory | null = null
  #history: HistoryReport | null = null

  constructor({ input, postgres, client, database }: DepartureOptions) {
    this.#input = input
    this.#postgres = postgres
    this.#client = client
    this.#database = database
    this.#place = `${input.dir} on ${hostname()}`
    this.#progress = new Progress(input.onProgress, this.#shapes.length)
  }

  async run(): Promise<MoveReport> {
    const { dir, monotonic, dryRun = false } = this.#input
    const began = monotonic()
    this.#progress.tell('preparing')
    const known = await this.#begin()
    if (known === 'done') return this.#report({ began, was_done: true, journal: null, audit: null })
    const unlock = lockFolder(dir, { purpose: 'an installation is moved into it', dryRun })
    try {
      const proof = dryRun ? await this.#tryIt() : await this.#bring(known)
      return this.#report({ began, was_done: false, ...proof })
    } finally {
      unlock()
    }
  }

  /** What is known of earlier moves. Throws where the database, or the folder, is not fit. */
  async #begin(): Promise<Move | null | 'done'> {
    const { dir } = this.#input
    const known = await readMove(this.#client)
    const isHere = hasRecord(dir)
    const mark = isHere ? markIn(dir) : null
    if (known?.state === 'left' && known.place === this.#place) {
      if (isHere && mark === null) return 'done'
    } else {
      const line = moveLine(known)
      if (line !== null) throw new Error(line)
      if (await isEmpty(this.#client, MOVED_TABLES))
        throw new Error(`${this.#database} has no installation`)
      if (isHere && mark === null)
        throw new Error(`${dir} has an installation: name a new folder with --dir`)
    }
    if (mark !== null && mark.id !== known?.id)
      throw new Error(movedLine(filesIn(dir).record, mark))
    await refuseNodes(this.#client)
    if (!this.#input.dryRun) await migratePostgres(this.#postgres)
    this.#published = await publishedHistory(this.#input, this.#postgres.read)
    return known
  }

  /** Reads all of it. */
  async #tryIt(): Promise<Pick<MoveReport, 'journal' | 'audit'>> {
    return within(
      this.#client,
      async () => {
        for (const shape of this.#tables) await this.#read(shape, () => {})
        // Nothing has brought its schema up to date.
        if (await hasDocuments(this.#client)) await this.#read(DOCUMENTS, () => {})
        return { journal: null, audit: null }
      },
      `${ONE_STATE} READ ONLY`,
    )
  }

  async #bring(known: Move | null): Promise<Pick<MoveReport, 'journal' | 'audit'>> {
    const { dir, now, random } = this.#input
    const staged = stageFolder(dir, this.#tables)
    try {
      await this.#bringHistory(staged)
      const { found: proof, fraudKeys } = await within(
        this.#client,
        async () => {
          // Before anything is read: what is read is then what stays.
          await holdTables(this.#client, this.#shapes)
          if (this.#published) await refuseNewer(this.#client, this.#published.published)
          await this.#copy(staged)
          await staged.complete(await givenNumbers(this.#client, this.#shapes))
          this.#verify(staged)
          staged.makeDue()
          staged.settle()
          const { installation, fraudKeys, ...found } = await this.#prove(staged)
          this.#progress.tell('marking')
          await refuseWrites(this.#client, this.#shapes)
          await writeMove(this.#client, {
            id: known?.id ?? random(12).toString('base64url'),
            installation: known?.installation ?? installation,
            state: 'left',
            place: this.#place,
            at: Math.floor(now()),
          })
          return { found, fraudKeys }
        },
        ONE_STATE,
      )
      this.#progress.tell('marking')
      keepFraudKeys(dir, fraudKeys)
      await staged.putInPlace(now())
      this.#progress.tell('marking')
      return proof
    } finally {
      staged.discard()
    }
  }

  /** What the nodes have published of it, before anybody has to wait. */
  async #bringHistory({ dir }: StagedFolder): Promise<void> {
    if (!this.#published) return
    this.#progress.tell('copying', 'history')
    this.#history = reportOfHistory(await bringHistoryIn(this.#input, { dir, ...this.#published }))
  }

  /** Copies all tables. Whether the key is at hand is known before the large ones come. */
  async #copy(staged: StagedFolder): Promise<void> {
    for (const shape of this.#shapes) {
      const began = this.#input.monotonic()
      await this.#read(
        shape,
        shape === DOCUMENTS
          ? (rows) => writeDocuments(staged.dir, rows)
          : writerOf(staged.raw(shape.database), shape),
      )
      this.#took.set(shape.name, this.#input.monotonic() - began)
      if (shape.name === 'data_key') this.#secretsOf(readerOver(staged.raw(shape.database)))
      this.#progress.tableDone()
    }
  }

  #secretsOf(reader: Reader): Pick<Secrets, 'of'> {
    const { dir, secretKey } = this.#input
    const key = findKey({ reader }, { dir, secretKey })
    if ('why' in key)
      throw new Error(
        `${key.why}: put the one of the nodes there, or give it as QUARTERMASTER_SECRET_KEY_FILE`,
      )
    return key.secrets
  }

  async #read(shape: TableShape, take: (rows: readonly Row[]) => void): Promise<void> {
    const count = countContent(shape)
    for await (const rows of readTable(this.#client, shape)) {
      count.take(rows)
      take(rows)
      this.#progress.tell('copying', shape.name, rows.length)
    }
    this.#contents.set(shape.name, count.end())
  }

  #verify(staged: StagedFolder): void {
    this.#progress.restart()
    for (const shape of this.#shapes) {
      const count = countContent(shape)
      const found =
        shape === DOCUMENTS
          ? [documentRows(staged.dir)]
          : readStaged(staged.raw(shape.database), shape)
      for (const rows of found) {
        count.take(rows)
        this.#progress.tell('verifying', shape.name, rows.length)
      }
      const [content, come] = [this.#contents.get(shape.name)!, count.end()]
      if (!isSame(content, come))
        throw new Error(
          `${shape.name} has not come into the folder as it is in ${this.#database} ` +
            `(${come.rows} rows of ${content.rows})`,
        )
      this.#progress.tableDone()
    }
  }

  async #prove({ dir }: StagedFolder) {
    const folder = openClosed(dir)
    try {
      const secrets = this.#secretsOf(folder.reader)
      const proof = await proveChains(folder.engine, secrets)
      const damage = damageIn(proof)
      if (damage !== null && !this.#input.acceptsDamage)
        throw new Error(`${this.#database} is damaged: ${damage}`)
      const fraudKeys = await readFraudKeys(this.#client, secrets)
      return { ...proof, installation: installationOf(secrets), fraudKeys }
    } finally {
      folder.close()
    }
  }

  #report(end: RunEnd): MoveReport {
    return reportOf(
      {
        to: 'folder',
        input: this.#input,
        database: this.#database,
        shapes: this.#shapes,
        contents: this.#contents,
        took: this.#took,
        history: this.#history,
      },
      end,
    )
  }
}
