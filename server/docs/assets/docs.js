/* What every page of the documentation has: copy buttons, tables that tell of their other half, and the search. */

/* Copy: a quiet button in the corner of every block of code */

for (const block of document.querySelectorAll('main pre')) {
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy this code')
  button.addEventListener('click', () => copy(block, button))
  frame.append(block, button)
}

/** Copies, or selects the text where the browser lets nothing be copied: a page without TLS has no clipboard. */
async function copy(block, button) {
  const text = block.textContent.replace(/\n$/, '')
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(block)
    button.textContent = 'Selected'
  }
  setTimeout(() => { button.textContent = 'Copy' }, 2000)
}

/* Tables that are wider than the page say so */

const tables = new ResizeObserver((entries) => entries.forEach(({ target }) => hint(target)))
for (const table of document.querySelectorAll('main .table')) {
  const frame = document.createElement('div')
  frame.className = 'table-frame'
  table.replaceWith(frame)
  const note = document.createElement('p')
  note.className = 'more'
  note.textContent = 'There is more to the right: scroll this table sideways.'
  frame.append(table, note)
  table.addEventListener('scroll', () => hint(table), { passive: true })
  tables.observe(table)
}

function hint(table) {
  const rest = table.scrollWidth - table.clientWidth
  const { dataset } = table.parentElement
  dataset.wide = String(rest > 1)
  dataset.rest = String(rest - table.scrollLeft > 1)
}

/* The list at the side is open where it has its own column */

const contents = document.querySelector('.contents')
const hasColumn = matchMedia('(min-width: 900px)')
const follow = () => { contents.open = hasColumn.matches }
hasColumn.addEventListener('change', follow)
follow()

// A page far down the list is seen in it.
const here = contents.querySelector('[aria-current=page]')
const side = contents.closest('aside')
if (here && hasColumn.matches) side.scrollTop = Math.max(0, here.offsetTop - side.clientHeight / 3)

/* Search */

const dialog = document.getElementById('search')
const field = dialog.querySelector('input')
const status = dialog.querySelector('[role=status]')
const list = dialog.querySelector('ol')
const opener = document.getElementById('find')
const MOST = 30
let index

opener.hidden = false
opener.addEventListener('click', openSearch)
addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, dialog')
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  openSearch()
})
field.addEventListener('input', showResults)
dialog.addEventListener('click', (event) => {
  // A link may lead to a place on the page that is open, and a click beside the dialog closes it.
  if (event.target === dialog || event.target.closest('a')) dialog.close()
})
dialog.addEventListener('keydown', moveWithin)

async function openSearch() {
  dialog.showModal()
  field.select()
  try {
    index ??= await loadIndex()
    showResults()
  } catch (error) {
    status.textContent = `The search could not be loaded: ${error.message}`
  }
}

async function loadIndex() {
  const response = await fetch('/docs/search.json')
  if (!response.ok) throw new Error(`the server answered ${response.status}`)
  const { pages, sections } = await response.json()
  return sections.map(([page, id, heading, text]) => ({
    title: pages[page][0], href: `${pages[page][1]}#${id}`, heading, text,
    // A blank before every word: a word is looked for at its beginning.
    inTitle: plain(pages[page][0]), inHeading: plain(heading), inText: plain(text),
  }))
}

/** Small letters, and of everything else but letters, digits, _ and - a blank; as long as the text. */
function plain(text) {
  return ` ${text.toLowerCase().replace(/[^\p{L}\p{N}_-]/gu, ' ')}`
}

/** Sections that have every word, those with the words in the heading first. */
function find(words) {
  return index
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
}

function scoreOf({ inTitle, inHeading, inText }, words) {
  const scores = words.map((word) => {
    const start = ` ${word}`
    return (inHeading.includes(start) ? 20 : 0) + (inTitle.includes(start) ? 8 : 0) + Math.min(inText.split(start).length - 1, 5)
  })
  if (scores.includes(0)) return 0
  const phrase = ` ${words.join(' ')}`
  return scores.reduce((sum, score) => sum + score) + (words.length > 1 && (inHeading + inText).includes(phrase) ? 10 : 0)
}

function showResults() {
  const words = plain(field.value).split(' ').filter(Boolean)
  const found = index && words.length > 0 ? find(words) : []
  list.replaceChildren(...found.slice(0, MOST).map(({ section }) => resultOf(section, words)))
  if (!index) return
  const count = `${found.length} ${found.length === 1 ? 'section' : 'sections'}`
  status.textContent = words.length === 0 ? `${index.length} sections of the guide and the reference.` : found.length === 0 ? 'Nothing has all of these words.' : found.length > MOST ? `The first ${MOST} of ${count}.` : `${count}.`
}

function resultOf({ title, href, heading, text, inText }, words) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = href
  const line = (tag, className, content) => {
    const element = document.createElement(tag)
    element.className = className
    element.append(...content)
    return element
  }
  link.append(
    line('span', 'where', heading === title ? [] : [title]),
    line('strong', 'heading', marked(heading, words)),
    line('span', 'excerpt', marked(excerpt(text, inText, words), words)),
  )
  item.append(link)
  return item
}

/** The words around the first that was looked for. */
function excerpt(text, inText, words) {
  const places = words.map((word) => inText.indexOf(` ${word}`)).filter((place) => place >= 0)
  const first = places.length > 0 ? Math.min(...places) : 0
  const from = first < 60 ? 0 : text.indexOf(' ', first - 50) + 1
  const end = from + 170
  return `${from > 0 ? '... ' : ''}${text.slice(from, end)}${end < text.length ? ' ...' : ''}`
}

/** Text with the words marked that were looked for. */
function marked(text, words) {
  const found = new RegExp(`(?<![\\p{L}\\p{N}_])(${words.map((word) => word.replace(/[-\\]/g, '\\$&')).join('|')})`, 'giu')
  return text.split(found).map((part, i) => {
    if (i % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

/** Arrows go from the field through the results and back; Enter in the field opens the first. */
function moveWithin(event) {
  const links = [...list.querySelectorAll('a')]
  const at = links.indexOf(document.activeElement)
  if (event.key === 'Escape') {
    // The field of a search would only be emptied by the first.
    event.preventDefault()
    dialog.close()
  } else if (event.key === 'Enter' && at < 0 && links.length > 0) {
    event.preventDefault()
    links[0].click()
  } else if (event.key === 'ArrowDown') {
    event.preventDefault()
    links[Math.min(at + 1, links.length - 1)]?.focus()
  } else if (event.key === 'ArrowUp') {
    event.preventDefault()
    if (at > 0) links[at - 1].focus()
    else field.focus()
  }
}
