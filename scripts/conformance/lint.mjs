/**
 * Lints OpenAPI documents with Spectral and Redocly: `node lint.mjs openapi.json`. Prints what they
 * find as JSON, a list of {file, linter, rule, severity, where, message}; nothing found is an empty
 * list. With `--quick` Spectral leaves the examples to Redocly, which checks them too: five seconds
 * against half of one.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createConfig, lintFromString } from '@redocly/openapi-core'

const require = createRequire(import.meta.url)
const { Spectral } = require('@stoplight/spectral-core')
const { oas } = require('@stoplight/spectral-rulesets')

/** Rules that contradict the contract, each with its reason. */
const OFF = {
  // The contract has /v1/orders/quote beside /v1/orders/{order_id}, and /v1/products/search beside
  // /v1/products/{upc}; a router takes the fixed one first.
  redocly: { 'no-ambiguous-paths': 'off' },
  spectral: {
    // Sections stand in the order of the contract.
    'openapi-tags-alphabetical': 'off',
    // Who runs a server, and how to reach them, is not known to the program.
    'contact-properties': 'off',
  },
}

/** `recommended-strict`: warnings count as errors. */
async function redocly(source, file) {
  const config = await createConfig({ extends: ['recommended-strict'], rules: OFF.redocly })
  const problems = await lintFromString({ source, absoluteRef: file, config })
  return problems.map(({ ruleId, severity, message, location }) => ({
    linter: 'redocly',
    rule: ruleId,
    severity,
    where: location[0]?.pointer ?? '',
    message,
  }))
}

async function spectral(source, isQuick) {
  const linter = new Spectral()
  linter.setRuleset({
    extends: [[oas, 'all']],
    rules: { ...OFF.spectral, ...(isQuick && { 'oas3-valid-media-example': 'off' }) },
  })
  const problems = await linter.run(JSON.parse(source))
  return problems.map(({ code, severity, message, path }) => ({
    linter: 'spectral',
    rule: String(code),
    severity: String(severity),
    where: path.join('/'),
    message,
  }))
}

const isQuick = process.argv.includes('--quick')
const found = []
for (const file of process.argv.slice(2).filter((arg) => arg !== '--quick')) {
  const source = readFileSync(file, 'utf8')
  for (const problem of [...(await spectral(source, isQuick)), ...(await redocly(source, file))])
    found.push({ file, ...problem })
}
process.stdout.write(`${JSON.stringify(found, null, 1)}\n`)
process.exitCode = found.length > 0 ? 1 : 0
