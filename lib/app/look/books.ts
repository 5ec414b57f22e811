/** What the system of record tells: its key, feeds, orders, jobs, and that nobody has changed it. */
import { existsSync, statfsSync } from 'node:fs'
import { verifyAudit } from '../../accounts/verify-audit.js'
import { figure, times } from '../../core/figures.js'
import type { Finding } from '../../core/finding.js'
import type { Secrets } from '../../core/storage/secrets.js'
import { filesIn } from '../../db/sqlite/folder.js'
import type { RowOf } from '../../db/query.js'
import { kyselyOver, openFile, rememberStatements } from '../../db/sqlite/sqlite.js'
import type { Tables } from '../../db/tables/tables.js'
import { proveJournal } from '../../orders/journal/verify.js'
import { findings } from '../health.js'
import { closedOrNull, findKey } from './closed-folder.js'
import type { ClosedFolder } from './closed-folder.js'
import type { DoctorInput } from './input.js'
import { contentCounts } from './queries.js'
import { shellWord, tell } from './tell.js'

export async function lookAtBooks(input: DoctorInput): Promise<readonly Finding[]> {
  const folder = closedOrNull(input.dir)
  // What is wrong with it was told by whoever looked at the files.
  if (!folder) return []
  try {
    const key = findKey(folder, input)
    const told =
      'why' in key
        ? noKey(key.why)
        : [tell('secret_key', 'ok', 'the secret key opens what is sealed')]
    if (!folder.isCurrent) return [...told, olderBooks(input.dir)]
    return [
      ...told,
      ...contents(folder.reader.first(contentCounts)),
      ...('why' in key ? [] : await proofs({ engine: folder.engine, secrets: key.secrets })),
      ...(await shared(input)).filter(({ check }) => check !== 'disk_low'),
    ]
  } finally {
    folder.close()
  }
}

/** How much the record holds. */
export function contents(found: RowOf<typeof contentCounts> | undefined): Finding[] {
  if (!found) return []
  return [
    tell(
      'contents',
      found.subscribers === 0 ? 'info' : 'ok',
      `${times(found.subscribers, 'shop')}, ${times(found.keys, 'key')}, ${times(found.orders, 'order')}`,
      found.subscribers === 0
        ? { mend: 'quartermaster subscribers create --name NAME --email ADDRESS' }
        : {},
    ),
  ]
}

const noKey = (why: string): Finding[] => [
  tell('secret_key', 'bad', `${why}: stored credentials cannot be opened`, {
    mend: 'put your own copy of keys/ back',
  }),
]

const olderBooks = (dir: string): Finding =>
  tell(
    'books',
    'info',
    'orders and feeds are looked at once the folder has been brought up to date',
    {
      mend: `quartermaster serve --dir ${shellWord(dir)}`,
    },
  )

/** Journal and audit are as they were written. */
export async function proofs(ctx: {
  readonly engine: ClosedFolder['engine']
  readonly secrets: Pick<Secrets, 'of'>
}): Promise<Finding[]> {
  const [journal, audit] = [await proveJournal(ctx), await verifyAudit(ctx)]
  return [
    journal.sound
      ? tell(
          'journal',
          'ok',
          `the ${figure(journal.lines)} lines of the order journal are as they were written`,
        )
      : tell(
          'journal',
          'bad',
          `the order journal: ${journal.faults[0]?.fault ?? 'it is not whole'}`,
          {
            mend: 'quartermaster orders journal verify',
          },
        ),
    audit.sound
      ? tell('audit', 'ok', `the ${figure(audit.rows)} rows of the audit are as they were written`)
      : tell('audit', 'bad', `the audit: ${audit.faults[0]?.fault ?? 'it is not whole'}`, {
          mend: 'quartermaster audit verify',
        }),
  ]
}

/** What a running server finds, too; over handles that only read. */
async function shared({ dir, now }: DoctorInput): Promise<Finding[]> {
  const files = filesIn(dir)
  if (!existsSync(files.catalog)) return []
  const record = openFile(files.record, { synchronous: 'FULL', readonly: true })
  const catalog = openFile(files.catalog, { synchronous: 'NORMAL', readonly: true })
  try {
    return await findings({
      read: kyselyOver<Tables>(record, () => {}),
      engine: {
        catalog: { raw: catalog, prepare: rememberStatements(catalog) },
        lead: null,
        time: async () => now(),
      },
      now,
      space: {
        free: () => {
          const { bavail, bsize } = statfsSync(dir)
          return bavail * bsize
        },
      },
    })
  } finally {
    catalog.close()
    record.close()
  }
}
