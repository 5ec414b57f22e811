/** One operation of the reference. */
import { allEndpoints } from '../../../lib/app/endpoints.js'
import { present } from '../../../lib/core/present.js'
import { operationIdOf } from '../../openapi/operations.js'
import { typeText } from '../compact.js'
import type { Schema } from '../compact.js'
import { escapeHtml } from '../html.js'
import { anchorOf, isReference, resolved } from '../openapi.js'
import type { Answer, Called, Content, OpenApi } from '../openapi.js'
import { curlOf } from './curl.js'
import { tryForm } from './form.js'
import {
  codeBlock,
  examplesOf,
  firstAndMore,
  headersList,
  inline,
  jsonBlock,
  prose,
  shapeList,
} from './parts.js'

/** Where it is told what every operation may be refused with. */
export const SHARED_ANCHOR = 'refusals'

/** What it takes and answers on the left, what is sent and comes back on the right. */
export function operationHtml(operation: Called, document: OpenApi): string {
  const { method, path, summary, description } = operation
  const id = anchorOf(operation)
  return `<article class="operation" id="${id}" data-words="${escapeHtml(wordsOf(operation))}">
<header>
<h3>${escapeHtml(summary)} <a class="anchor" href="#${id}" aria-label="Link to this operation">#</a></h3>
<p class="address">${methodBadge(method)} <code>${escapeHtml(path).replaceAll('/', '/<wbr>')}</code></p>
</header>
<div class="told">
${description === `${summary}.` ? '' : prose(description)}
${parameterTable(operation, document)}
${bodyPart(operation, document)}
${answerPart(operation, document)}
${refusalPart(operation, document)}
</div>
<div class="shown">
<div class="call">${codeBlock(curlOf(operation, exampleOf(operation)), 'sh')}</div>
${tryForm(operation)}
${answerExamples(operation, document)}
</div>
</article>`
}

export function methodBadge(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`
}

/** What the filter looks for words in. */
function wordsOf({ method, path, tags: [tag], operationId, summary }: Called): string {
  return `${method} ${path} ${tag} ${operationId} ${summary}`.toLowerCase()
}

/** The request that the example answers. */
function exampleOf({ operationId }: Called): Record<string, unknown> {
  const endpoint = allEndpoints.find((candidate) => operationIdOf(candidate) === operationId)
  return (endpoint?.example.request ?? {}) as Record<string, unknown>
}

function parameterTable(
  { parameters = [], method, path }: Called,
  { components }: OpenApi,
): string {
  if (parameters.length === 0) return ''
  const rows = parameters.map(
    ({ name, in: place, required, description = '', schema }) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code>` +
      `${place === 'query' ? '' : ` <span class="place">${place}</span>`}` +
      `${required ? ' <span class="mark required">required</span>' : ''}</th>` +
      `<td class="type">${escapeHtml(typeText(schema, components.schemas))}</td>` +
      `<td>${inline(description)}</td></tr>`,
  )
  const of = `${method} ${escapeHtml(path)}`
  return `<h4>Parameters</h4>
${firstAndMore(rows, 'parameters', (some, which) => parameterRows(some, `${which} of ${of}`))}`
}

function parameterRows(rows: readonly string[], label: string): string {
  return `<div class="table" role="region" aria-label="${label}" tabindex="0"><table>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table></div>`
}

function bodyPart({ requestBody }: Called, document: OpenApi): string {
  if (requestBody === undefined) return ''
  return `<h4>Body${requestBody.required ? '' : ' <span class="mark optional">optional</span>'}</h4>
<p>${inline(requestBody.description)}</p>
${shapeList(requestBody.content['application/json'].schema, document, 'required')}`
}

function successOf({ responses, operationId }: Called, document: OpenApi): Answer {
  return resolved(present(responses['200'], operationId), 'responses', document)
}

function answerPart(operation: Called, document: OpenApi): string {
  const { description, headers, content = {} } = successOf(operation, document)
  const [[type, { schema }]] = Object.entries(content) as [[string, Content]]
  const data = schema.properties?.['data']
  const shape = shapeList(data ?? schema, document, 'optional')
  const place = data
    ? 'In <code>data</code> of the envelope.'
    : `${inline(description)}, as <code>${escapeHtml(type)}</code>.`
  return `<h4>Answer</h4>
<p>${place}</p>
${isObject(data ?? schema) ? `<details><summary>Members of the answer</summary>\n${shape}\n</details>` : shape}
<details><summary>Headers</summary>
${headersList(headers, document)}
</details>`
}

function isObject({ $ref, properties, anyOf, oneOf }: Schema): boolean {
  return [$ref, properties, anyOf, oneOf].some((part) => part !== undefined)
}

function answerExamples(operation: Called, document: OpenApi): string {
  const contents = Object.values(successOf(operation, document).content ?? {})
  return contents
    .flatMap((content) => examplesOf(content, document))
    .map(({ name, value }, at) => answerExample(name, value, at === 0))
    .join('\n')
}

/**
 * Lines of the first example that stand open beside the operation; a longer one, and any other, is
 * opened by its line.
 */
const MOST_LINES = 40

function answerExample(name: string, value: unknown, isFirst: boolean): string {
  const lines = JSON.stringify(value, null, 2).split('\n').length
  const isOpen = isFirst && lines <= MOST_LINES
  const which = isFirst ? '' : ` ${escapeHtml(name)}`
  return `<details class="example"${isOpen ? ' open' : ''}>
<summary>Answer <span class="status">200</span>${which}${isOpen ? '' : `, ${lines} lines`}</summary>
${jsonBlock(value)}
</details>`
}

/** Its own refusals, each with its example; those of every operation by their statuses. */
function refusalPart({ responses }: Called, document: OpenApi): string {
  const own = Object.entries(responses).filter(
    ([status, given]) => status !== '200' && !isReference(given),
  )
  const shared = Object.entries(responses)
    .filter(([, given]) => isReference(given))
    .map(([status]) => status)
  const all = `<a href="#${SHARED_ANCHOR}">${shared.join(', ')}</a>`
  return `<h4>Other answers</h4>
${own.map(([status, given]) => refusalDetails(status, given as Answer, document)).join('\n')}
<p class="shared">${own.length > 0 ? 'And as every' : 'As every'} operation: ${all}</p>`
}

/** A status in one line for each of its codes; with examples and headers when it is opened. */
export function refusalDetails(status: string, answer: Answer, document: OpenApi): string {
  const examples = Object.values(answer.content ?? {}).flatMap((content) =>
    examplesOf(content, document),
  )
  const lines = answer.description
    .split('\n\n')
    .map((line) => `<span class="line">${inline(line)}</span>`)
    .join('\n')
  const shown = examples.map(
    ({ name, value }) =>
      `<p class="type"><code>${escapeHtml(name)}</code></p>\n${jsonBlock(value)}`,
  )
  const summary = `<span class="status">${status}</span> <span class="lines">${lines}</span>`
  return `<details class="refusal"><summary>${summary}</summary>
${shown.join('\n')}
${headersList(answer.headers, document)}
</details>`
}
