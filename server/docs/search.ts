/**
 * What the search of the documentation looks through: every section of the guide and every
 * operation, as text. The browser gets it whole when somebody begins to search, and needs nobody
 * afterwards.
 */
import type { Token, Tokens } from 'marked'
import type { Registry } from '../../lib/distributors/registry.js'
import { readPage } from './guide.js'
import { anchor, plainText } from './markdown.js'
import { anchorOf, describedBy, operationsOf } from './openapi.js'
import type { Called } from './openapi.js'
import { PAGES, addressOf } from './pages.js'

/** A section: the index of its page, its anchor, its heading, and its text in one line. */
export type Section = readonly [page: number, id: string, heading: string, text: string]

export interface SearchIndex {
  /** Title and address. */
  pages: (readonly [title: string, address: string])[]
  sections: Section[]
}

/** The index as JSON. `folder` holds the guide's Markdown. */
export async function searchIndex(registry: Registry, folder: string): Promise<string> {
  const { Marked } = await import('marked')
  const marked = new Marked()
  const sections = await Promise.all(
    PAGES.map(async (page, at) =>
      sectionsOf(marked.lexer(await readPage(folder, page))).map(
        (section) => [at, ...section] as const,
      ),
    ),
  )
  const operations = operationsOf(describedBy(registry)).map(
    (operation) => [PAGES.length, anchorOf(operation), ...textOf(operation)] as const,
  )
  const index: SearchIndex = {
    pages: [
      ...PAGES.map((page) => [page.title, addressOf(page)] as const),
      ['API reference', '/v1/docs'],
    ],
    sections: [...sections.flat(), ...operations],
  }
  return JSON.stringify(index)
}

/** The anchor, the heading and the text of each part of a page that has a heading. */
function sectionsOf(tokens: readonly Token[]): [id: string, heading: string, text: string][] {
  const taken = new Map<string, number>()
  const sections: [id: string, heading: string, text: string][] = []
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = plainText(token.tokens ?? [])
      sections.push([anchor(heading, taken), heading, ''])
    } else {
      const section = sections.at(-1)
      const text = wordsOf(token)
      if (section && text) section[2] = section[2] ? `${section[2]} ${text}` : text
    }
  }
  return sections
}

/** What is written in a token, in one line. */
function wordsOf(token: Tokens.Generic): string {
  const inner: Tokens.Generic[] | undefined =
    token.type === 'table'
      ? [...token['header'], ...(token['rows'] as Tokens.TableCell[][]).flat()]
      : token.type === 'list'
        ? token['items']
        : token.tokens
  const text = inner
    ? inner.map(wordsOf).join(isRunning(token) ? '' : ' ')
    : 'text' in token
      ? String(token['text'])
      : ' '
  return isRunning(token) ? text : text.replaceAll(/\s+/g, ' ').trim()
}

/** Whether it stands within a line, where blanks count. */
function isRunning({ type }: Tokens.Generic): boolean {
  return ['text', 'strong', 'em', 'link', 'codespan', 'del', 'escape', 'br'].includes(type)
}

function textOf(operation: Called): [heading: string, text: string] {
  const { method, path, summary, description, parameters = [] } = operation
  const told = parameters.map(({ name, description: about = '' }) => `${name}: ${about}.`)
  return [
    `${method} ${path}`,
    [`${summary}.`, ...(description === `${summary}.` ? [] : [description]), ...told]
      .join(' ')
      .replaceAll('`', ''),
  ]
}
