/*
 * The interactive part of the reference. It asks nobody but the server that it came from. The API key is in one variable
 * of this script and nowhere else: not in storage, not in a cookie, not in the address, and not in the commands that are shown.
 */
const $ = (id) => document.getElementById(id)

const MODES = {
  simulator: 'Simulator: distributors are played by this server. Nothing real is bought.',
  live: 'Live: POST /v1/orders buys from real distributors and costs real money.',
  mixed: 'Partly live: some distributors are real. POST /v1/orders may buy from them and cost real money.',
  unknown: 'The mode of this server is not known. Take every order for a real one.',
}
const UNUSED = 'Sent as x-api-key with what you try here. This page forgets it when it is reloaded or closed.'
const USED = 'Used for what you try here, until this page is reloaded or closed.'

let key = ''
let mode = 'unknown'

function showMode(named) {
  mode = named in MODES ? named : 'unknown'
  $('mode').dataset.mode = mode
  $('mode').textContent = MODES[mode]
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
    sayKey('', key ? USED : UNUSED)
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

/** What a form says: the address below this server, the headers without the key, and the body. */
function requestOf(form) {
  const fields = [...form.querySelectorAll('[data-in]')]
  const given = (place) => fields.filter((field) => field.dataset.in === place && field.value !== '')
  const path = given('path').reduce((text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)), form.dataset.path)
  const search = new URLSearchParams(given('query').map(({ name, value }) => [name, value]))
  const body = form.elements.namedItem('body')?.value
  const headers = Object.fromEntries(given('header').map(({ name, value }) => [name, value]))
  return {
    method: form.dataset.method,
    address: `${location.origin}${path}${search.size > 0 ? `?${search}` : ''}`,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    body,
  }
}

/** As a command for a shell, without the key itself; server/docs/reference/curl.ts has the first one. */
function curlOf({ method, address, headers, body }, isOpen) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`
  const all = Object.entries({ ...(!isOpen && { 'x-api-key': 'YOUR_KEY' }), ...headers })
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(address)}`,
    ...all.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(body)}`]),
  ].join(' \\\n  ')
}

function wireForm(form) {
  const operation = form.closest('.operation')
  const command = operation.querySelector('.call code')
  const result = operation.querySelector('.result')
  form.addEventListener('input', () => {
    command.textContent = `${curlOf(requestOf(form), 'open' in form.dataset)}\n`
  })
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    // A reload leads back to here.
    history.replaceState(null, '', `#${operation.id}`)
    const button = form.querySelector('.send')
    button.disabled = true
    try {
      await run(requestOf(form), result)
    } finally {
      button.disabled = false
    }
  })
}

async function run(request, result) {
  if (!(await mayRun(request))) return show(result, [line('Not sent: you did not confirm the order.')])
  show(result, [line('Waiting for the answer.')])
  const { method, address, headers, body } = request
  const from = performance.now()
  try {
    const response = await fetch(address, { method, body, cache: 'no-store', headers: { ...headers, ...(key && { 'x-api-key': key }) } })
    const text = await response.text()
    const took = performance.now() - from
    const named = response.headers.get('x-service-mode')
    if (named) showMode(named)
    show(result, answerParts(response, text, took))
  } catch (error) {
    show(result, [line(`No answer: ${error.message}`)])
  }
}

/** An order where not all is played needs a yes. The mode is asked for again: it may have changed since the page was loaded. */
async function mayRun({ method, address, body }) {
  if (method !== 'POST' || new URL(address).pathname !== '/v1/orders') return true
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

/* An answer */

function show(result, parts) {
  result.replaceChildren(...parts)
}

function element(tag, className, ...content) {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.append(...content)
  return made
}

function line(text) {
  return element('p', 'note', text)
}

function answerParts(response, text, took) {
  const state = response.ok ? 'good' : 'bad'
  const size = new Blob([text]).size
  const headers = element('dl', 'headers')
  for (const [name, value] of response.headers) headers.append(element('dt', '', name), element('dd', '', element('code', '', value)))
  const block = element('pre', '', element('code', '', ...pretty(text)))
  block.tabIndex = 0
  return [
    element('p', 'outcome', element('span', `status ${state}`, `${response.status}`), ` ${response.statusText} in ${Math.round(took)} ms, ${size.toLocaleString('en')} bytes`),
    element('details', '', element('summary', '', 'Headers of this answer'), headers),
    block,
  ]
}

/** Above this many characters the words are not told apart: each is an element of its own. */
const LARGE = 100_000

/** JSON with its words told apart, as the examples have it; other text as it is. */
function pretty(text) {
  let json
  try {
    json = JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return [text]
  }
  if (json.length > LARGE) return [json]
  const words = /("(?:[^"\\]|\\.)*")(?=\s*:)|("(?:[^"\\]|\\.)*")|(-?\b\d[\d.eE+-]*)|\b(true|false|null)\b/g
  const parts = []
  let at = 0
  for (const { 0: word, 1: name, 2: string, 3: figure, index } of json.matchAll(words)) {
    parts.push(json.slice(at, index), element('span', name ? 'name' : string ? 'string' : figure ? 'figure' : 'word', word))
    at = index + word.length
  }
  return [...parts, json.slice(at)]
}

/* Finding an operation */

function wireFilter() {
  const operations = [...document.querySelectorAll('.operation')]
  const links = new Map([...document.querySelectorAll('.contents li li')].map((item) => [item.firstElementChild.hash.slice(1), item]))
  const show = () => {
    const words = $('filter').value.trim().toLowerCase().split(/\s+/).filter(Boolean)
    const found = operations.filter((operation) => {
      const isFound = words.every((word) => operation.dataset.words.includes(word))
      operation.hidden = links.get(operation.id).hidden = !isFound
      return isFound
    }).length
    for (const group of document.querySelectorAll('.tag, .contents nav > ul > li')) {
      const inner = [...group.querySelectorAll('.operation, li')]
      group.hidden = words.length > 0 && inner.every(({ hidden }) => hidden)
    }
    $('count').textContent = words.length === 0 ? '' : found > 0 ? `${found} of ${operations.length} operations.` : `None of ${operations.length} operations has these words.`
  }
  $('filter').addEventListener('input', show)
  // A link to what the filter hides shows it again.
  addEventListener('hashchange', () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
    if (!target?.closest('[hidden]')) return
    $('filter').value = ''
    show()
    target.scrollIntoView()
  })
  show()
}

/** The list beside the operations says which one is read. */
function followReading() {
  const links = new Map([...document.querySelectorAll('.contents li li a')].map((link) => [link.hash.slice(1), link]))
  const seen = new Set()
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) seen[isIntersecting ? 'add' : 'delete'](target.id)
    const current = [...links.keys()].find((id) => seen.has(id))
    for (const [id, link] of links) {
      if (id !== current) link.removeAttribute('aria-current')
      else if (!link.hasAttribute('aria-current')) {
        link.setAttribute('aria-current', 'location')
        keepInView(link)
      }
    }
  }, { rootMargin: '-10% 0px -80% 0px' })
  for (const operation of document.querySelectorAll('.operation')) watch.observe(operation)
}

function keepInView(link) {
  const list = link.closest('aside')
  const [inner, outer] = [link.getBoundingClientRect(), list.getBoundingClientRect()]
  if (inner.top < outer.top + 80 || inner.bottom > outer.bottom - 40) list.scrollTop += inner.top - outer.top - outer.height / 2
}

/** On a phone an example would stand between an operation and the next one: its line opens it. */
function foldExamples() {
  for (const example of document.querySelectorAll('.example[open]')) example.open = false
}

function start() {
  if (matchMedia('(max-width: 899px)').matches) foldExamples()
  for (const part of document.querySelectorAll('.panel, .try, .filter')) part.hidden = false
  $('base').textContent = location.origin
  wireKey()
  wireFilter()
  followReading()
  for (const form of document.querySelectorAll('.try form')) wireForm(form)
  for (const command of document.querySelectorAll('.call code')) rebase(command, $('base').dataset.written)
  askMode()
}

/** The commands name the server that this page came from. */
function rebase(command, written) {
  for (const node of command.querySelectorAll('.string')) node.textContent = node.textContent.replace(written, location.origin)
}

start()
