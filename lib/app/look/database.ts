/**
 * Looks at an installation whose system of record is a PostgreSQL that several nodes share: the
 * server, and what the record tells. Of a database that is not of this release it looks no further.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Finding } from '../../core/finding.js'
import { openPostgres } from '../../db/postgres/connect.js'
import { postgresSchema, readSchemaVersion } from '../../db/postgres/schema.js'
import { filesIn } from '../../db/sqlite/folder.js'
import { first } from '../../db/reading.js'
import { findings } from '../health.js'
import { open } from '../open.js'
import type { App } from '../open.js'
import { contents, proofs } from './books.js'
import type { DoctorInput } from './input.js'
import { compareCopy } from './journal-copy.js'
import { lookOutside } from './outside.js'
import { contentCounts } from './queries.js'
import { tell } from './tell.js'

/** Every look at it; where it cannot be opened, what lies outside is looked at all the same. */
export async function lookAtDatabase(
  input: DoctorInput & { database: string },
): Promise<readonly Finding[]> {
  const server = await lookAtServer(input.database)
  if (server.severity !== 'ok') return [server, ...(await lookOutside(input, []))]
  // A node's folder that is there has the catalog of that node; none is made for the doctor.
  const isNode = existsSync(filesIn(input.dir).catalog)
  const dir = isNode ? input.dir : mkdtempSync(join(tmpdir(), 'quartermaster-doctor-'))
  try {
    return [server, ...(await lookAtRecord(input, dir))]
  } finally {
    if (!isNode) rmSync(dir, { recursive: true, force: true })
  }
}

async function lookAtServer(address: string): Promise<Finding> {
  try {
    const postgres = await openPostgres(address)
    try {
      return schemaFinding(await readSchemaVersion(postgres))
    } finally {
      await postgres.close()
    }
  } catch (error) {
    return tell('database', 'bad', (error as Error).message, {
      mend: 'look at QUARTERMASTER_DATABASE_FILE, and at the server',
    })
  }
}

function schemaFinding(version: number | null): Finding {
  const known = postgresSchema.length
  if (version === null)
    return tell('database', 'bad', 'there is no installation in the database', {
      mend: 'quartermaster init, or quartermaster move --to-file FILE',
    })
  if (version > known)
    return tell(
      'database',
      'bad',
      `the database has schema ${version}, and this release knows ${known}: a newer one wrote it`,
      { mend: 'install that release again' },
    )
  return version < known
    ? tell(
        'database',
        'info',
        `the database has schema ${version}; the next start of a node brings it to ${known}`,
      )
    : tell('database', 'ok', 'the database answers, and is of this release')
}

async function lookAtRecord(input: DoctorInput, dir: string): Promise<readonly Finding[]> {
  let app: App
  try {
    app = await open({
      dir,
      database: input.database!,
      ...(input.secretKey !== undefined && { secretKey: input.secretKey }),
      ...(input.objects && { objects: input.objects }),
      distributors: input.distributors,
      actor: 'doctor',
      worker: false,
    })
  } catch (error) {
    return [tell('record', 'bad', (error as Error).message), ...(await lookOutside(input, []))]
  }
  try {
    const { ctx } = app
    const live = await ctx.read
      .selectFrom('distributor_mode')
      .select('distid')
      .where('mode', '=', 'live')
      .execute()
    const isLive = new Set(live.map(({ distid }) => distid))
    return [
      tell('secret_key', 'ok', 'the secret key opens what is sealed'),
      ...contents(await ctx.engine.look(() => first(contentCounts))),
      ...(await proofs(ctx)),
      // The disk of this machine was looked at already.
      ...(await findings(ctx)).filter(({ check }) => check !== 'disk_low'),
      tell(
        'backups',
        'info',
        'backups of several nodes are those of the database and of the bucket: no command sees them',
      ),
      ...(await lookOutside(
        input,
        ctx.distributors.all.filter(({ distid }) => isLive.has(distid)),
      )),
      ...(input.journalCopy && !input.offline ? await compareCopy(ctx, input.journalCopy) : []),
    ]
  } finally {
    await app.close()
  }
}
