/** Where an installation has what must not be lost, as options and environment say it. */
import { readFileSync } from 'node:fs'
import { codeOf } from '../lib/core/errors.js'
import type { S3Store } from '../lib/objects/s3.js'
import { UsageError } from './cli/command.js'
import { databaseFromEnvironment, secretKeyFromEnvironment } from './env.js'
import type { S3Place } from './env.js'
import { journalCopyIn, objectsFromEnvironment } from './object-store.js'

/** For `open()`. Nothing of it where the state folder has everything. */
export interface Places {
  database?: string
  secretKey?: string
  objects?: S3Store
  journalCopy?: S3Store
}

export interface PlaceOptions {
  /** `--database-file`. */
  databaseFile?: string | undefined
  /** `--objects`, as `s3://BUCKET/PREFIX`. */
  objects?: string | undefined
  /** `--journal-copy`. */
  journalCopy?: boolean
}

/**
 * The options, and the environment for what they do not say. Asks nobody. Throws a UsageError that
 * names the option or the variable: also where a database is named that nodes share, and not what
 * they share besides.
 */
export function placesOf({ databaseFile, objects, journalCopy = false }: PlaceOptions): Places {
  const database =
    databaseFile === undefined ? databaseFromEnvironment() : readDatabaseFile(databaseFile)
  const key = secretKeyFromEnvironment()
  const store = objectsFromEnvironment(objects === undefined ? {} : bucketIn(objects))
  if (database !== undefined && key.secretKey === undefined)
    throw new UsageError(
      'QUARTERMASTER_SECRET_KEY is missing: nodes that share a database share the secret key; ' +
        'set it, or QUARTERMASTER_SECRET_KEY_FILE, to the 64 hex digits in keys/secret-key of the ' +
        'folder that was moved; of a new installation, to the output of `openssl rand -hex 32`',
    )
  if (database !== undefined && !store.objects)
    throw new UsageError(
      'the store of files is missing: nodes that share a database share a bucket, too; set ' +
        'QUARTERMASTER_S3_*',
    )
  return {
    ...(database !== undefined && { database }),
    ...key,
    ...store,
    ...journalCopyIn(store, journalCopy),
  }
}

/** The same as variables, for a command that is started beside a server. */
export function environmentOf({ databaseFile, objects }: PlaceOptions): Record<string, string> {
  const { bucket, prefix = '' } = objects === undefined ? {} : bucketIn(objects)
  return {
    ...(databaseFile !== undefined && {
      QUARTERMASTER_DATABASE: '',
      QUARTERMASTER_DATABASE_FILE: databaseFile,
    }),
    ...(bucket !== undefined && {
      QUARTERMASTER_S3_BUCKET: bucket,
      QUARTERMASTER_S3_PREFIX: prefix,
    }),
  }
}

/**
 * The address of a database that stands in a file. Throws a UsageError for an address in place of a
 * file, and for a file that cannot be read.
 */
export function readDatabaseFile(file: string): string {
  if (/^postgres(ql)?:\/\//.test(file))
    throw new UsageError(
      'an address is not given as an argument, which every user of this machine can read: write ' +
        'it into a file that only you can read, and name that',
    )
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read (${codeOf(error)})`)
  }
}

/** What `--objects` names. Throws a UsageError. */
export function bucketIn(text: string): S3Place {
  const [, bucket, prefix] = /^s3:\/\/([^/]+)(?:\/(.*?)\/?)?$/.exec(text) ?? []
  if (bucket === undefined)
    throw new UsageError(
      `--objects: "${text}" is not s3://BUCKET or s3://BUCKET/PREFIX; where the server is and ` +
        'its keys stand in QUARTERMASTER_S3_*',
    )
  return { bucket, ...(prefix && { prefix }) }
}
