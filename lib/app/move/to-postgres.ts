/**
 * Moves the system of record of a folder into PostgreSQL. Each table arrives in a transaction of its
 * own, or not at all, and what has arrived is compared with the folder; then the folder is marked,
 * and then the database may be served. So there is no moment at which both could be, and a run that
 * was cut off anywhere is run again.
 */
import { rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { readAddress } from '../../db/postgres/address.js'
import { openPostgres } from '../../db/postgres/connect.js'
import type { Postgres } from '../../db/postgres/connect.js'
import type { Move } from '../../db/postgres/moved.js'
import { migratePostgres } from '../../db/postgres/schema.js'
import { openSnapshotOn } from '../../db/postgres/snapshot.js'
import { movedLine } from '../../db/sqlite/moved.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { countContent, isSame } from '../../db/move/digest.js'
import type { TableContent } from '../../db/move/digest.js'
import {
  emptyTables,
  fillSearch,
  keepNumbers,
  readTable,
  searchFaults,
  setTriggers,
  writerOf,
} from '../../db/move/postgres-tables.js'
import {
  APPLICATION,
  ONE_STATE,
  arrivedTables,
  connectForMove,
  isEmpty,
  noteArrived,
  readMove,
  refuseNodes,
  refuseOthers,
  within,
  writeMove,
} from '../../db/move/postgres-state.js'
import type { MoveClient } from '../../db/move/postgres-state.js'
import { givenNumbers, readTable as readSource } from '../../db/move/sqlite-tables.js'
import { MOVED_TABLES, databasesOf } from '../../db/move/tables.js'
import type { TableShape } from '../../db/move/tables.js'
import type { Publication } from '../../feeds/shared/publication.js'
import type { ObjectStore } from '../../objects/store.js'
import { lockFolder } from '../folder-lock.js'
import { DOCUMENTS } from './documents.js'
import { putFraudKeys } from './fraud-keys.js'
import { bringHistoryOut, bucketForFolder, publishHistory, reportOfHistory } from './history.js'
import { Progress } from './input.js'
import type { HistoryReport, MoveInput, MoveReport } from './input.js'
import { reportOf } from './report.js'
import type { RunEnd } from './report.js'
import {
  damageIn,
  hasRecord,
  holdFolder,
  installationOf,
  markIn,
  proveChains,
  settleFolder,
} from './source-folder.js'
import type { HeldFolder, OpenApp } from './source-folder.js'
import { makeStaging } from './target-folder.js'

/** Moves a folder into PostgreSQL. Throws an Error of one line that says what is in the way. */
export async function moveToPostgres(open: OpenApp, given: MoveInput): Promise<MoveReport> {
  const input = { ...given, dir: resolve(given.dir) }
  const { dir, dryRun = false } = input
  const address = readAddress(input.address)
  if (!hasRecord(dir)) throw new Error(`no installation in ${dir}`)
  const lock = (name: 'serve' | 'engine') =>
    lockFolder(dir, { purpose: 'it is moved', dryRun, locks: [name] })
  const unlock = [lock('serve')]
  try {
    const mark = markIn(dir)
    const postgres = await openPostgres(input.address, { application: APPLICATION })
    try {
      if (mark === null && !dryRun) await settleFolder(open, input)
      unlock.push(lock('engine'))
      const folder = holdFolder(input, MOVED_TABLES)
      try {
        const client = await connectForMove(postgres)
        try {
          const database = `the database ${address.database} at ${address.host}:${address.port}`
          return await new Arrival({ input, folder, postgres, client, mark, database }).run()
        } finally {
          await client.end()
        }
      } finally {
        folder.close()
      }
    } finally {
      await postgres.close()
    }
  } finally {
    for (const release of unlock) release()
  }
}

interface ArrivalOptions {
  input: MoveInput
  folder: HeldFolder
  postgres: Postgres
  client: MoveClient
  mark: ReturnType<typeof markIn>
  database: string
}

class Arrival {
  readonly #input: MoveInput
  readonly #folder: HeldFolder
  readonly #postgres: Postgres
  readonly #client: MoveClient
  readonly #mark: ArrivalOptions['mark']
  readonly #database: string
  readonly #progress: Progress
  /** What the folder has. */
  readonly #contents = new Map<string, TableContent>()
  readonly #took = new Map<string, number>()
  /** For the history; null where it does not move. */
  #bucket: ObjectStore | null = null
  #history: HistoryReport | null = null

  constructor({ input, folder, postgres, client, mark, database }: ArrivalOptions) {
    this.#input = input
    this.#folder = folder
    this.#postgres = postgres
    this.#client = client
    this.#mark = mark
    this.#database = database
    this.#progress = new Progress(input.onProgress, folder.shapes.length)
  }

  async run(): Promise<MoveReport> {
    const { monotonic, acceptsDamage = false, dryRun = false } = this.#input
    const began = monotonic()
    this.#progress.tell('preparing')
    const move = await this.#begin()
    if (move === 'done') return this.#report({ began, was_done: true, journal: null, audit: null })
    const proof = await this.#folder.prove()
    const damage = damageIn(proof)
    if (damage !== null && !acceptsDamage)
      throw new Error(`${this.#input.dir} is damaged: ${damage}`)
    if (dryRun) {
      for (const shape of this.#folder.shapes) this.#readSource(shape)
      return this.#report({ began, was_done: false, ...proof })
    }
    await this.#copy()
    this.#progress.restart()
    await this.#compareAll()
    const arrived = await this.#prove()
    if (damage === null && damageIn(arrived) !== null)
      throw new Error(`${this.#database} is damaged: ${damageIn(arrived)}`)
    const history = await this.#storeHistory(move)
    await this.#finish(move, history)
    return this.#report({ began, was_done: false, ...arrived })
  }

  /** What there is to do: the move that begins, or goes on. Throws where the database is not fit. */
  async #begin(): Promise<Move | 'done'> {
    const { dir, now, random, dryRun = false } = this.#input
    const known = await readMove(this.#client)
    const installation = installationOf(this.#folder.secrets)
    const mark = this.#mark
    if (mark !== null && known?.id !== mark.id)
      throw new Error(movedLine(filesIn(dir).record, mark))
    if (known?.state === 'arrived' && mark !== null) return 'done'
    if (known?.state === 'arrived' || known?.state === 'left')
      throw new Error(
        `${this.#database} has what ${known.state === 'arrived' ? 'came from' : 'went into'} ` +
          `${known.place} on ${new Date(known.at).toISOString()}: name an empty database`,
      )
    if (known !== null && known.installation !== installation)
      throw new Error(
        `another installation, of ${known.place}, is being moved into ${this.#database}: ` +
          'name an empty database',
      )
    this.#bucket = bucketForFolder(this.#input)
    await refuseNodes(this.#client)
    if (!dryRun) await migratePostgres(this.#postgres)
    if (known !== null) return known
    const tables = this.#folder.shapes
    if (!(await isEmpty(this.#client, MOVED_TABLES)))
      throw new Error(`${this.#database} has an installation of its own: name an empty database`)
    const move: Move = {
      id: random(12).toString('base64url'),
      installation,
      state: 'arriving',
      place: `${dir} on ${hostname()}`,
      at: Math.floor(now()),
    }
    if (dryRun) return move
    await within(this.#client, async () => {
      await setTriggers(this.#client, tables, 'DISABLE')
      await writeMove(this.#client, move)
    })
    // Whoever comes from here on is turned away; one that came before this has it open by now.
    await refuseOthers(this.#client)
    return move
  }

  async #copy(): Promise<void> {
    const { shapes } = this.#folder
    const arrived = await this.#stillRight(await arrivedTables(this.#client))
    for (const shape of shapes) {
      if (!arrived.has(shape.name)) await this.#copyTable(shape)
      this.#progress.tableDone()
      this.#progress.tell('copying', shape.name)
    }
    await within(this.#client, async () => {
      await fillSearch(this.#client)
      await putFraudKeys(this.#client, this.#folder.secrets, this.#folder.fraudKeys)
      const numbers = databasesOf(shapes).map((database) =>
        givenNumbers(this.#folder.holder(database)),
      )
      await keepNumbers(this.#client, shapes, new Map(numbers.flatMap((one) => [...one])))
    })
    await this.#client.query(`ANALYZE ${shapes.map(({ name }) => `"${name}"`).join()}`)
  }

  /**
   * What an earlier run has brought in. Where it was nothing, or the folder was served since, it
   * begins anew: a row that went cannot be taken out while others refer to it.
   */
  async #stillRight(arrived: Map<string, TableContent>): Promise<ReadonlySet<string>> {
    const { shapes } = this.#folder
    const isRight = (shape: TableShape) => {
      const content = arrived.get(shape.name)
      return !content || isSame(this.#readSource(shape), content)
    }
    if (arrived.size > 0 && shapes.every(isRight)) return new Set(arrived.keys())
    await within(this.#client, () => emptyTables(this.#client, shapes))
    return new Set()
  }

  /** Reads a table of the folder, and keeps what it has. */
  #readSource(shape: TableShape): TableContent {
    const count = countContent(shape)
    for (const rows of this.#rowsOf(shape)) {
      count.take(rows)
      this.#progress.tell('copying', shape.name, rows.length)
    }
    return this.#keep(shape, count.end())
  }

  #rowsOf(shape: TableShape) {
    const { reader, holder, documents } = this.#folder
    if (shape === DOCUMENTS) return documents.length > 0 ? [documents] : []
    return readSource(reader(shape.database), shape, holder(shape.database))
  }

  #keep({ name }: TableShape, content: TableContent): TableContent {
    this.#contents.set(name, content)
    return content
  }

  async #copyTable(shape: TableShape): Promise<void> {
    const began = this.#input.monotonic()
    await within(this.#client, async () => {
      const write = writerOf(this.#client, shape)
      const count = countContent(shape)
      for (const rows of this.#rowsOf(shape)) {
        count.take(rows)
        await write(rows)
        this.#progress.tell('copying', shape.name, rows.length)
      }
      await noteArrived(this.#client, shape.name, this.#keep(shape, count.end()))
    })
    this.#took.set(shape.name, this.#input.monotonic() - began)
  }

  /** Compares all that has arrived with what the folder has. */
  async #compareAll(): Promise<void> {
    const { shapes } = this.#folder
    await within(
      this.#client,
      async () => {
        for (const shape of shapes) {
          const count = countContent(shape)
          for await (const rows of readTable(this.#client, shape)) {
            count.take(rows)
            this.#progress.tell('verifying', shape.name, rows.length)
          }
          this.#compare(shape, count.end())
          this.#progress.tableDone()
        }
        const faults = await searchFaults(this.#client)
        if (faults > 0) throw new Error(`a search would not find ${faults} of the orders`)
      },
      `${ONE_STATE} READ ONLY`,
    )
  }

  /** The chains as the database has them now, and the file of the journal beside them. */
  #prove() {
    const openSnapshot = () => openSnapshotOn(this.#postgres.read)
    return proveChains({ dir: this.#input.dir, openSnapshot }, this.#folder.secrets)
  }

  #compare({ name }: TableShape, found: TableContent): void {
    const content = this.#contents.get(name)!
    if (isSame(content, found)) return
    throw new Error(
      `${name} is not in ${this.#database} as it is in the folder (${found.rows} rows of ` +
        `${content.rows}${found.rows === content.rows ? ', with other contents' : ''}): somebody ` +
        'has changed it. Make the database anew, and run it again',
    )
  }

  /** Null where there is none that moves. */
  async #storeHistory({ id }: Move): Promise<Publication | null> {
    if (this.#bucket === null) return null
    const work = makeStaging(this.#input.dir)
    try {
      const history = await bringHistoryOut(this.#input, {
        objects: this.#bucket,
        // The same for a run after this one, so that what this one has stored is of use.
        mark: id,
        work,
        onFile: () => this.#progress.tell('copying', 'history'),
      })
      this.#history = reportOfHistory(history)
      return history
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  }

  /** The folder is marked before the database may be served. */
  async #finish(move: Move, history: Publication | null): Promise<void> {
    const { now } = this.#input
    const at = Math.floor(now())
    this.#progress.tell('marking')
    await refuseOthers(this.#client)
    if (this.#mark === null) this.#folder.mark({ id: move.id, place: this.#database, at })
    this.#progress.tell('marking')
    await within(this.#client, async () => {
      await setTriggers(this.#client, this.#folder.shapes, 'ENABLE')
      await this.#client.query('DELETE FROM moved_table')
      if (history !== null) await publishHistory(this.#client, history)
      await writeMove(this.#client, { ...move, state: 'arrived', at })
    })
    this.#progress.tell('marking')
  }

  #report(end: RunEnd): MoveReport {
    return reportOf(
      {
        to: 'postgres',
        input: this.#input,
        database: this.#database,
        shapes: this.#folder.shapes,
        contents: this.#contents,
        took: this.#took,
        history: this.#history,
      },
      end,
    )
  }
}
