/** THIRD-PARTY-NOTICES: what the licenses of the packages in a bundle ask to go along. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const TEXTS = /^(licen[sc]e|notice|copying)(\.|$)/i
const RULE = '-'.repeat(80)

/**
 * The text for these packages. `runtime` is Node's own license, where Node goes along. Throws for a
 * package that says nothing of its license.
 */
export function noticesOf(packages, runtime) {
  const parts = packages.map((one) => `${one.name} ${one.version}\n\n${licenseOf(one)}`)
  if (runtime !== undefined) parts.push(`Node.js ${runtime.version}\n\n${runtime.license}`)
  return [
    'Quartermaster holds the packages below, or parts of them, under the licenses that follow.\n',
    ...parts.map((text) => `${text.trim()}\n`),
  ].join(`\n${RULE}\n\n`)
}

function licenseOf({ name, folder, license }) {
  const files = readdirSync(folder)
    .filter((file) => TEXTS.test(file))
    .sort()
  if (files.length > 0)
    return files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
  const { author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  if (license !== 'MIT') throw new Error(`${name} has no text of its license (${license})`)
  // Some packages name the license without a copy of it.
  return `Copyright (c) ${typeof author === 'string' ? author : (author?.name ?? `the authors of ${name}`)}\n\n${MIT}`
}

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`
