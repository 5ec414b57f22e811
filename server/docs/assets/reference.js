/*
 * The interactive page. It asks nobody but the server that it came from. The API key is in one variable of this script
 * and nowhere else: not in storage, not in a cookie, not in the address, and not in the commands that are shown.
 */
const $ = (id) => document.getElementById(id)

const MODES = {
  simulator: 'Simulator: distributors are played by this server. Nothing real is bought.',
  live: 'Live: POST /v1/orders buys from real distributors and costs real money.',
  mixed: 'Partly live: some distributors are real. POST /v1/orders may buy from them and cost real money.',
  unknown: 'The mode of this server is not known. Take every order for a real one.',
}

let key = ''
let mode = 'unknown'

function showMode(named) {
  mode = named in MODES ? named : 'unknown'
  $('mode').dataset.mode = mode
  $('mode').textContent = MODES[mode]
}

/** The document as it is now; its answer says the mode. A proxy may have given this server another address than it knows of. */
async function loadDocument() {
  const response = await fetch('/v1/openapi.json', { cache: 'no-cache' })
  if (!response.ok) throw new Error(`/v1/openapi.json answered ${response.status}`)
  showMode(response.headers.get('x-service-mode'))
  return { ...await response.json(), servers: [{ url: location.origin }] }
}

async function askMode() {
  try {
    showMode((await fetch('/v1/openapi.json', { method: 'HEAD', cache: 'no-store' })).headers.get('x-service-mode'))
  } catch {
    showMode('unknown')
  }
}

/* The key */

function wireKey() {
  const field = $('key')
  field.value = ''
  field.addEventListener('input', () => {
    key = field.value.trim()
    sayKey('', key ? 'Used for what you try here, until this page is reloaded or closed.' : 'Sent as x-api-key with what you try here. This page forgets it when it is reloaded or closed.')
  })
  $('key-form').addEventListener('submit', async (event) => {
    event.preventDefault()
    await checkKey()
  })
}

async function checkKey() {
  if (!key) return sayKey('bad', 'Enter a key first. The demo prints one when it starts; the operator makes others with `keys create`.')
  try {
    const { success, data, error } = await (await fetch('/v1/ping', { headers: { 'x-api-key': key } })).json()
    sayKey(success ? 'good' : 'bad', success ? `The key "${data.key_name}" works, tier ${data.tier}.` : `${error.code}: ${error.message}`)
  } catch (error) {
    sayKey('bad', `The key could not be checked: ${error.message}`)
  }
}

function sayKey(state, text) {
  $('key-note').dataset.state = state
  $('key-note').textContent = text
}

/* Trying out */

function sendKey(request) {
  if (key && new URL(request.url, location.href).origin === location.origin) request.headers['x-api-key'] = key
  return request
}

/** An order where not all is played needs a yes. The mode is asked for again: it may have changed since the page was loaded. */
async function mayRun({ pathName, method }, body) {
  if (method.toUpperCase() !== 'POST' || pathName !== '/v1/orders') return true
  await askMode()
  if (mode === 'simulator') return true
  $('confirm-text').textContent = `${MODES[mode]} ${describeOrder(body)}`
  const dialog = $('confirm')
  dialog.returnValue = 'no'
  dialog.showModal()
  await new Promise((resolve) => dialog.addEventListener('close', resolve, { once: true }))
  return dialog.returnValue === 'yes'
}

function describeOrder(body) {
  try {
    const { order_id: id, items } = JSON.parse(body)
    return `Order ${id}: ${items.map(({ qty, distsku, distid }) => `${qty} of ${distsku} from ${distid}`).join(', ')}.`
  } catch {
    return ''
  }
}

const nothing = () => null

/** A refusal is its line until somebody wants the example: an operation has up to ten of them. */
function foldRefusals(Response, { React }) {
  const element = React.createElement
  return function Folded(props) {
    const [isOpen, open] = React.useState(false)
    if (isOpen || !/^[45]/.test(props.code)) return element(Response, props)
    const Markdown = props.getComponent('Markdown', true)
    return element('tr', { className: 'response refusal', 'data-code': props.code },
      element('td', { className: 'response-col_status' }, props.code),
      element('td', { className: 'response-col_description' },
        element(Markdown, { source: props.response.get('description') }),
        element('button', { type: 'button', className: 'refusal-button', 'aria-label': `Example of ${props.code}`, onClick: () => open(true) }, 'Example and headers')))
  }
}

function ours({ specActions, oas3Selectors }) {
  return {
    wrapComponents: { response: foldRefusals },
    // The header of this page has the key, the address and the filter.
    components: { AuthorizeBtnContainer: nothing, authorizeOperationBtn: nothing, FilterContainer: nothing, InfoContainer: nothing, ServersContainer: nothing },
    fn: { opsFilter: (tags, words) => tags.map((tag) => tag.update('operations', (list) => list.filter((entry) => matches(words, entry.toJS())))).filter((tag) => tag.get('operations').size > 0) },
    statePlugins: { spec: {
      wrapActions: {
        executeRequest: (original) => async (request) => {
          if (await mayRun(request, oas3Selectors.requestBodyValue(request.pathName, request.method))) return original(request)
          return specActions.setResponse(request.pathName, request.method, { error: true, err: { name: 'Not sent', message: 'you did not confirm the order.' } })
        },
      },
      wrapSelectors: {
        // What is shown as curl; the original is bound to the state.
        mutatedRequestFor: (original) => (_state, ...names) => {
          const request = original(...names)
          return request?.hasIn(['headers', 'x-api-key']) ? request.setIn(['headers', 'x-api-key'], 'YOUR_KEY') : request
        },
      },
    } },
  }
}

/* Finding an operation */

/** Every word in method, path, tag or summary. */
function matches(words, { path, method, operation }) {
  const text = `${method} ${path} ${operation.tags?.join(' ')} ${operation.operationId} ${operation.summary}`.toLowerCase()
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word))
}

function wireFilter(document, ui) {
  const methods = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options'])
  const all = Object.entries(document.paths).flatMap(([path, item]) => Object.entries(item).filter(([method]) => methods.has(method)).map(([method, operation]) => ({ path, method, operation })))
  const show = () => {
    const words = $('filter').value.trim()
    ui.getSystem().layoutActions.updateFilter(words || true)
    const found = all.filter((entry) => matches(words, entry)).length
    $('count').textContent = !words ? `${all.length} operations.` : found > 0 ? `${found} of ${all.length} operations.` : `None of ${all.length} operations has these words.`
  }
  $('filter').addEventListener('input', show)
  show()
}

async function start() {
  wireKey()
  $('base').textContent = location.origin
  // Swagger UI has colours for both.
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
  dark.addEventListener('change', follow)
  follow()
  try {
    const spec = await loadDocument()
    $('version').textContent = spec.info.version
    const ui = window.SwaggerUIBundle({
      spec, domNode: $('api'), plugins: [ours], deepLinking: true, docExpansion: 'list', defaultModelsExpandDepth: 0, displayRequestDuration: true,
      filter: true, validatorUrl: null, persistAuthorization: false, requestInterceptor: sendKey,
      responseInterceptor(response) {
        const named = response.headers?.['x-service-mode']
        if (named) showMode(named)
        return response
      },
    })
    wireFilter(spec, ui)
  } catch (error) {
    $('failure').hidden = false
    $('failure').textContent = `The operations could not be shown: ${error.message}`
  }
}

start()
