/**
 * The form that an operation is tried with. It is hidden until assets/reference.js, which sends it,
 * is there.
 */
import { escapeHtml } from '../html.js'
import type { Called, Parameter } from '../openapi.js'

export function tryForm(operation: Called): string {
  const { operationId, method, path, parameters = [], requestBody, security } = operation
  const example = requestBody?.content['application/json'].example
  const body =
    requestBody === undefined
      ? ''
      : `<label for="${operationId}-body">Body, as JSON</label>
<textarea id="${operationId}-body" name="body" rows="${rowsOf(example)}" spellcheck="false" \
autocomplete="off">${escapeHtml(JSON.stringify(example ?? {}, null, 2))}</textarea>`
  return `<details class="try" hidden>
<summary>Try it</summary>
<form data-method="${method}" data-path="${escapeHtml(path)}"\
${security?.length === 0 ? ' data-open' : ''} autocomplete="off">
${parameters.map((parameter) => field(operationId, parameter)).join('\n')}
${body}
<div class="row"><button type="submit" class="button primary send">Send</button></div>
</form>
<div class="result" role="status" aria-label="Answer"></div>
</details>`
}

/** As high as the example is, within reason. */
function rowsOf(example: unknown): number {
  const lines = JSON.stringify(example ?? {}, null, 2).split('\n').length
  return Math.min(Math.max(lines + 1, 4), 24)
}

function field(operationId: string, parameter: Parameter): string {
  const { name, in: place, required, schema, example } = parameter
  const id = `${operationId}-${name}`
  const attributes =
    `id="${id}" name="${escapeHtml(name)}" data-in="${place}"` + (required ? ' required' : '')
  const mark = required ? ' <span class="mark required">required</span>' : ''
  const label = `<label for="${id}"><code>${escapeHtml(name)}</code>${mark}</label>`
  const choices = schema.enum?.map(String) ?? (schema.type === 'boolean' ? ['true', 'false'] : null)
  if (choices) {
    const none = `<option value="">${required ? 'choose' : 'as it is by default'}</option>`
    const options = choices.map((choice) => `<option>${escapeHtml(choice)}</option>`).join('')
    return `<div class="field">${label}<select ${attributes}>${none}${options}</select></div>`
  }
  const shown = example === undefined ? '' : escapeHtml(String(example))
  // What must be there can be sent as it stands.
  const given = required ? ` value="${shown}"` : shown && ` placeholder="for example ${shown}"`
  const asTyped = 'autocomplete="off" autocapitalize="none" spellcheck="false"'
  return `<div class="field">${label}<input type="text" ${attributes}${given} ${asTyped}></div>`
}
