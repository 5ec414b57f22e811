/** The Dockerfile and compose.yaml, read by linters and by Compose itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { blocks, page } from '../docs/blocks.js'

const CONFORMANCE = resolve('scripts', 'conformance')
const scratch = mkdtempSync(join(tmpdir(), 'qm-container-files-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const noLinter = existsSync(join(CONFORMANCE, 'node_modules', 'dockerfile-utils'))
  ? false
  : 'the linter is not installed: npm ci in scripts/conformance'
const isThere = (program: string) => spawnSync(program, ['--version']).status === 0
const missing = (program: string) => (isThere(program) ? false : `${program} is not installed`)
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

describe('the Dockerfile', () => {
  test('gives its linter nothing to say', { skip: noLinter }, () => {
    const load = createRequire(pathToFileURL(join(CONFORMANCE, 'package.json')))
    const { validate } = load('dockerfile-utils') as {
      validate(text: string): { message: string }[]
    }
    const text = readFileSync('Dockerfile', 'utf8')
    assert.deepEqual(validate(text), [])
    // Silence means something.
    assert.match(validate(text.replace('EXPOSE 8080', 'EXPOSE eighty'))[0]!.message, /eighty/)
    assert.notDeepEqual(validate(text.replace('USER 10001', 'USERS 10001')), [])
  })

  test('gets all that the build reads, and nothing that must not go into an image', () => {
    const patterns = readFileSync('.dockerignore', 'utf8').trim().split('\n')
    for (const name of ['.git', '.env', '**/node_modules', 'dist', 'secrets', 'var'])
      assert.ok(patterns.includes(name), name)
    for (const name of ['lib', 'server', 'data', 'scripts', 'build.mjs', 'LICENSE', 'package.json'])
      assert.ok(!patterns.includes(name), name)
  })
})

for (const file of ['compose.yaml', 'compose.nodes.yaml'])
  describe(file, () => {
    test('gives yamllint nothing to say', { skip: missing('yamllint') }, () => {
      const rules = '{extends: default, rules: {line-length: {max: 100}}}'
      const { status, stdout } = spawnSync('yamllint', ['--strict', '-d', rules, file], {
        encoding: 'utf8',
      })
      assert.deepEqual([status, stdout], [0, ''])
    })

    test(
      'is one that Compose takes, and is what was meant',
      { skip: missing('docker-compose') },
      () => {
        const text = readFileSync(file, 'utf8')
        mkdirSync(join(scratch, 'secrets'), { recursive: true })
        writeFileSync(
          join(scratch, 'secrets', 'files.env'),
          'ROOT_ACCESS_KEY=a\nROOT_SECRET_KEY=b\n',
        )
        const read = (content: string) => {
          writeFileSync(join(scratch, file), content)
          return spawnSync('docker-compose', ['-f', file, 'config'], {
            cwd: scratch,
            encoding: 'utf8',
          })
        }
        const { status, stdout, stderr } = read(text)
        assert.equal(status, 0, stderr)
        assert.match(stdout, /ROOT_SECRET_KEY: b/)
        assert.ok(text.includes(`image: quartermaster:${version}\n`))
        // The proxy alone is believed, and only it can be reached from outside.
        const [, proxy] = /--trust-proxy=(\S+)/.exec(text)!
        assert.ok(text.includes(`ipv4_address: ${proxy}`))
        assert.equal(text.match(/^ +ports:/gm)!.length, 1)
        assert.notEqual(read(text.replace('cap_drop:', 'cap_dropped:')).status, 0)
      },
    )

    test('names variables that the server reads', () => {
      const code = readFileSync(join('server', 'env.ts'), 'utf8')
      const named = readFileSync(file, 'utf8').match(/QUARTERMASTER_(DATABASE|SECRET|S3)_\w+/g)!
      assert.ok(named.length > 6)
      for (const name of named) assert.ok(code.includes(`'${name}'`), name)
    })
  })

describe('the page on deploying', () => {
  test('shows the files of data/operating as they are', () => {
    const shown = blocks(page('deploying.md')).map(({ text }) => text)
    for (const name of ['quartermaster.service', 'nginx.conf', 'Caddyfile', 'logrotate.conf'])
      assert.ok(shown.includes(readFileSync(join('data', 'operating', name), 'utf8')), name)
  })

  test('names the release that there is', () => {
    const named = page('deploying.md').match(/quartermaster[-:](\d+\.\d+\.\d+)/g)!
    assert.deepEqual(
      new Set(named.map((name) => name.slice('quartermaster-'.length))),
      new Set([version]),
    )
  })
})
