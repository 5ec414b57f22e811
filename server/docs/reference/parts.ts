/** What operations are shown with: texts, code, shapes, headers. */
import { CONFIGURATION, choicesOf, membersOf, typeText } from '../compact.js'
import type { Marked, Member, Schema } from '../compact.js'
import { highlight } from '../highlight.js'
import { escapeHtml } from '../html.js'
import { resolved } from '../openapi.js'
import type { Answer, Content, Header, OpenApi } from '../openapi.js'

/**
 * A description of the document: paragraphs with `code` in them. One that begins with a **name** of
 * its own is opened by it.
 */
export function prose(text: string): string {
  return text
    .split('\n\n')
    .map((paragraph) => {
      const [, name, rest] = /^\*\*([^*]+)\*\*: (.+)$/s.exec(paragraph) ?? []
      return name === undefined || rest === undefined
        ? `<p>${inline(paragraph)}</p>`
        : `<details><summary>${escapeHtml(name)}</summary>\n<p>${inline(rest)}</p>\n</details>`
    })
    .join('\n')
}

/** A line of text with `code` in it. */
export function inline(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

/** A block that can be copied. */
export function codeBlock(text: string, language: string): string {
  return `<pre tabindex="0"><code>${highlight(text, language)}\n</code></pre>`
}

export function jsonBlock(value: unknown): string {
  return codeBlock(JSON.stringify(value, null, 2), 'json')
}

/** `dl` of names with what they mean. */
export function headersList(
  headers: NonNullable<Answer['headers']> | undefined,
  document: OpenApi,
): string {
  const entries = Object.entries(headers ?? {}).map(([name, given]) => {
    const { description, example } = resolved<Header>(given, 'headers', document)
    const shown = example === undefined ? '' : ` <code>${escapeHtml(String(example))}</code>`
    return `<dt>${escapeHtml(name)}</dt><dd>${inline(description)}${shown}</dd>`
  })
  return entries.length > 0 ? `<dl class="headers">${entries.join('\n')}</dl>` : ''
}

/** Every example of a response, each under its code where there are several. */
export function examplesOf(
  content: Content,
  document: OpenApi,
): { name: string; value: unknown }[] {
  const several = Object.entries(content.examples ?? {}).map(([name, given]) => ({
    name,
    value: resolved(given, 'examples', document).value,
  }))
  return content.example === undefined
    ? several
    : [{ name: '', value: content.example }, ...several]
}

/** A list of more rows than this shows some, and the others when they are asked for. */
const MOST_ROWS = 10
const FIRST_ROWS = 7

/** Rows of a list; where there are many, all but the first are opened by a line. */
export function firstAndMore<Row>(
  rows: readonly Row[],
  noun: string,
  list: (rows: readonly Row[], which: string) => string,
): string {
  if (rows.length <= MOST_ROWS) return list(rows, capital(noun))
  const more = rows.slice(FIRST_ROWS)
  return `${list(rows.slice(0, FIRST_ROWS), `First ${noun}`)}
<details><summary>${more.length} more ${noun}</summary>
${list(more, `More ${noun}`)}
</details>`
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** The members of a value as a nested list, those of each choice where it may be several. */
export function shapeList(schema: Schema, document: OpenApi, mark: Marked): string {
  const { schemas } = document.components
  const lists = choicesOf(schema, schemas)
    .map((choice) => membersOf(choice, schemas, mark))
    .filter((members) => members.length > 0)
  if (lists.length === 0) return `<p class="type">${escapeHtml(typeText(schema, schemas))}</p>`
  return lists.map((members) => memberList(members, mark)).join('\n<p class="or">or</p>\n')
}

function memberList(members: readonly Member[], mark: Marked): string {
  const items = members.map((member) => memberItem(member, mark))
  return firstAndMore(items, 'members', (some) => `<ul class="members">\n${some.join('\n')}\n</ul>`)
}

/** What is told at another operation leads there. */
function typeHtml(type: string): string {
  return type === CONFIGURATION
    ? `<a href="#/config/configPut">${escapeHtml(type)}</a>`
    : escapeHtml(type)
}

function memberItem(member: Member, mark: Marked): string {
  const { name, type, isMarked, before, about, members } = member
  const head = [
    `<code>${escapeHtml(name)}</code>`,
    `<span class="type">${typeHtml(type)}</span>`,
    ...(isMarked ? [`<span class="mark ${mark}">${mark}</span>`] : []),
  ].join(' ')
  const text = [
    ...(about ? [inline(about)] : []),
    ...(before === undefined ? [] : [`The members of <code>${escapeHtml(before)}</code>.`]),
  ].join('. ')
  const inner =
    members.length > 0
      ? `<details><summary>${members.length} ${members.length === 1 ? 'member' : 'members'} of ` +
        `${escapeHtml(name)}</summary>\n${memberList(members, mark)}\n</details>`
      : ''
  return `<li>${head}${text && `<p>${text}</p>`}${inner}</li>`
}
