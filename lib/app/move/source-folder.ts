/** The folder that a record leaves: brought up to date, held, proved, and marked. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readSecrets } from '../../accounts/data-keys.js'
import { verifyAudit } from '../../accounts/verify-audit.js'
import type { AuditVerification } from '../../accounts/verify-audit.js'
import { present } from '../../core/present.js'
import { OPERATOR } from '../../core/storage/secrets.js'
import type { Secrets } from '../../core/storage/secrets.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { markMoved, readMoved } from '../../db/sqlite/moved.js'
import type { MovedRecord } from '../../db/sqlite/moved.js'
import { openFile } from '../../db/sqlite/sqlite.js'
import type { Raw } from '../../db/sqlite/sqlite.js'
import { quartermasterSchema } from '../../db/migrations/quartermaster.js'
import { shapeOf } from '../../db/move/sqlite-tables.js'
import { databasesOf } from '../../db/move/tables.js'
import type { MovedDatabase, MovedTable, Row, TableShape } from '../../db/move/tables.js'
import { fraudKeyFiles } from '../../fraud/keys/files.js'
import { proveJournal } from '../../orders/journal/verify.js'
import type { ProofCtx, Verification } from '../../orders/journal/verify.js'
import { findKey, openClosed } from '../look/closed-folder.js'
import type { open } from '../open.js'
import { DOCUMENTS, documentRows } from './documents.js'
import type { MoveInput } from './input.js'

export type OpenApp = typeof open

/** The mark of a record that was moved; null where there is none. */
export function markIn(dir: string): MovedRecord | null {
  const raw = openFile(filesIn(dir).record, { synchronous: 'FULL', readonly: true })
  try {
    return readMoved(raw)
  } finally {
    raw.close()
  }
}

/**
 * Opens the folder once as a server does: it gets the schema of this release, and what a server
 * that died left behind is written down, in the journal's file as well.
 */
export async function settleFolder(
  open: OpenApp,
  { dir, secretKey, now, monotonic, random, log }: MoveInput,
): Promise<void> {
  const app = await open({
    dir,
    worker: false,
    actor: 'cli',
    now,
    monotonic,
    random,
    fatal: (error) => {
      throw error
    },
    ...(secretKey !== undefined && { secretKey }),
    ...(log && { log }),
  })
  try {
    const lease = await app.ctx.orders.lease()
    if (!lease) throw new Error(`orders are being sent on ${dir}; stop it before it is moved`)
    try {
      await app.ctx.orders.flush()
    } finally {
      lease.release()
    }
  } finally {
    await app.close()
  }
}

export interface HeldFolder {
  /** Of all that moves, the documents among them. */
  readonly shapes: readonly TableShape[]
  /** The rows of the documents of distributors, which are files here. */
  readonly documents: readonly Row[]
  /** What opens its sealed texts, and seals others. */
  readonly secrets: Pick<Secrets, 'of'>
  /** The keys of fraud signals, by name. */
  readonly fraudKeys: ReadonlyMap<string, string>
  /** For reads of tables: it is busy while one is read. */
  reader(database: MovedDatabase): Raw
  /** What keeps writers out, and reads beside that one. */
  holder(database: MovedDatabase): Raw
  prove(): Promise<{ journal: Verification; audit: AuditVerification }>
  /** Marks the record as moved: from here on nobody serves it. */
  mark(mark: MovedRecord): void
  close(): void
}

/**
 * Holds the databases of a folder: until it is closed, nobody writes into them. Throws where the
 * secret key is not at hand, or the schema is another one.
 */
export function holdFolder(
  { dir, secretKey, random }: MoveInput,
  tables: readonly MovedTable[],
): HeldFolder {
  const opened: { close(): unknown }[] = []
  const close = () => {
    for (const one of opened.splice(0).toReversed()) one.close()
  }
  try {
    const folder = openClosed(dir)
    opened.push(folder)
    if (!folder.isCurrent)
      throw new Error(
        `${dir} has schema ${folder.schema}, and this release ${quartermasterSchema.length}: ` +
          'any command brings it up to date, as `quartermaster subscribers list`',
      )
    const key = findKey(folder, { dir, secretKey })
    if ('why' in key) throw new Error(`${key.why}: journal and audit cannot be proved without it`)
    const secrets = present(
      readSecrets(folder.reader, Buffer.from(key.text, 'hex'), random),
      'the secrets of the folder',
    )
    const open = (readonly: boolean) => {
      const files = databasesOf(tables).map((name): [MovedDatabase, Raw] => [
        name,
        openFile(filesIn(dir)[name], { synchronous: 'FULL', readonly, patient: true }),
      ])
      opened.push(...files.map(([, raw]) => raw))
      const known = new Map(files)
      return (database: MovedDatabase) => present(known.get(database), database)
    }
    const [reader, holder] = [open(true), open(false)]
    for (const name of databasesOf(tables)) holder(name).exec('BEGIN IMMEDIATE')
    return {
      shapes: [...tables.map((table) => shapeOf(holder(table.database), table)), DOCUMENTS],
      documents: documentRows(dir),
      secrets,
      fraudKeys: fraudKeyFiles(join(dir, 'keys')),
      reader,
      holder,
      prove: () => proveChains(folder.engine, secrets),
      mark: (mark) => markRecord(holder('record'), mark, tables),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Proves the order journal and the audit, wherever they are. */
export async function proveChains(
  engine: ProofCtx['engine'],
  secrets: Pick<Secrets, 'of'>,
): Promise<{ journal: Verification; audit: AuditVerification }> {
  return {
    journal: await proveJournal({ engine, secrets }),
    audit: await verifyAudit({ engine, secrets }),
  }
}

function markRecord(raw: Raw, mark: MovedRecord, tables: readonly MovedTable[]): void {
  markMoved(
    raw,
    mark,
    tables.filter(({ database }) => database === 'record').map(({ name }) => name),
  )
  raw.exec('COMMIT')
  // Whoever copies the file alone has the mark, too.
  raw.pragma('wal_checkpoint(TRUNCATE)')
}

/** Which installation it is: the same in a copy of it, and under another secret key. */
export const installationOf = (secrets: Pick<Secrets, 'of'>): string =>
  secrets.of(OPERATOR).fingerprint('the installation that moves')

/** Whether there is a record in the folder. */
export const hasRecord = (dir: string): boolean => existsSync(filesIn(dir).record)

/** The first thing that is wrong with the chains, in words; null where they are sound. */
export function damageIn({
  journal,
  audit,
}: {
  journal: Pick<Verification, 'faults'>
  audit: Pick<AuditVerification, 'faults'>
}): string | null {
  const [line] = journal.faults
  const [row] = audit.faults
  if (line)
    return `order journal, ${line.where}${line.seq === null ? '' : `, line ${line.seq}`}: ${line.fault}`
  return row ? `audit, row ${row.seq}: ${row.fault}` : null
}
