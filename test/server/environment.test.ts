/** Secrets that the environment names a file of, as containers and systemd give them. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  egressFromEnvironment,
  s3FromEnvironment,
  secretKeyFromEnvironment,
} from '../../server/env.js'
import { startProcess } from './launcher.js'

const scratch = mkdtempSync(join(tmpdir(), 'qm-environment-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

/** What is read with these variables set, and no other of ours. */
function withVariables<T>(variables: Readonly<Record<string, string>>, read: () => T): T {
  const before = { ...process.env }
  const clear = () => {
    for (const name of Object.keys(process.env))
      if (name.startsWith('QUARTERMASTER_')) delete process.env[name]
  }
  clear()
  Object.assign(process.env, variables)
  try {
    return read()
  } finally {
    clear()
    Object.assign(process.env, before)
  }
}

function fileOf(text: string): string {
  const file = join(mkdtempSync(join(scratch, 'secret-')), 'secret')
  writeFileSync(file, text)
  return file
}

const BUCKET = {
  QUARTERMASTER_S3_ENDPOINT: 'http://127.0.0.1:9000',
  QUARTERMASTER_S3_BUCKET: 'files',
  QUARTERMASTER_S3_REGION: 'us-east-1',
}
const KEYS = { QUARTERMASTER_S3_ACCESS_KEY: 'AK', QUARTERMASTER_S3_SECRET_KEY: 'SK' }
const MAIL = { QUARTERMASTER_MAIL_FROM: 'orders@shop.example' }

/** Each variable with a secret: its text, what is set beside it, and what reads it. */
const SECRETS: Readonly<Record<string, [string, Record<string, string>, () => unknown]>> = {
  QUARTERMASTER_SECRET_KEY: ['a'.repeat(64), {}, secretKeyFromEnvironment],
  QUARTERMASTER_EGRESS_PROXY: ['http://user:word@127.0.0.1:3128', {}, egressFromEnvironment],
  QUARTERMASTER_MAIL_SERVER: ['smtps://user:word@127.0.0.1:465', MAIL, egressFromEnvironment],
  QUARTERMASTER_S3_ACCESS_KEY: ['AK', { ...BUCKET, ...KEYS }, s3FromEnvironment],
  QUARTERMASTER_S3_SECRET_KEY: ['SK', { ...BUCKET, ...KEYS }, s3FromEnvironment],
}

describe('a secret of the environment', () => {
  for (const [name, [text, beside, read]] of Object.entries(SECRETS)) {
    test(`${name} may lie in the file that ${name}_FILE names`, () => {
      const { [name]: _, ...others } = beside
      const given = withVariables({ ...others, [name]: text }, read)
      assert.ok(JSON.stringify(given).includes(text))
      const file = { [`${name}_FILE`]: fileOf(`${text}\n`) }
      assert.deepEqual(withVariables({ ...others, ...file }, read), given)
      // As compose passes a variable that nobody has set.
      assert.deepEqual(withVariables({ ...others, ...file, [name]: '' }, read), given)
    })

    test(`${name} is refused where it is given twice, and where its file is missing or empty`, () => {
      const { [name]: _, ...others } = beside
      const cases = [
        [
          { [name]: text, [`${name}_FILE`]: fileOf(text) },
          `${name} and ${name}_FILE are both set: set one of them`,
        ],
        [
          { [`${name}_FILE`]: '/nowhere/secret' },
          `${name}_FILE: /nowhere/secret cannot be read (ENOENT)`,
        ],
      ] as const
      for (const [variables, message] of cases)
        assert.throws(() => withVariables({ ...others, ...variables }, read), { message })
      const empty = fileOf('\n')
      assert.throws(() => withVariables({ ...others, [`${name}_FILE`]: empty }, read), {
        message: `${name}_FILE: ${empty} is empty`,
      })
    })
  }

  test('that cannot be read keeps the server from starting, with one line and exit code 2', async () => {
    const { status, err } = await startProcess(
      ['serve', '--port', '0', '--dir', join(scratch, 'never')],
      {
        env: { QUARTERMASTER_SECRET_KEY_FILE: '/nowhere/secret' },
      },
    )
    assert.equal(status, 2)
    assert.equal(err, 'QUARTERMASTER_SECRET_KEY_FILE: /nowhere/secret cannot be read (ENOENT)\n')
  })
})
