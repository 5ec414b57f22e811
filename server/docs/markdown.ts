/**
 * The guide's Markdown as HTML. HTML in it is shown as text, and links and pictures lead only to
 * where they may: what a page says can never become a script, whatever the browser makes of the
 * policy.
 */
import type { Marked as MarkedClass, Tokens } from 'marked'
import { highlight } from './highlight.js'
import { escapeHtml } from './html.js'

export interface Heading {
  depth: number
  /** Plain text. */
  text: string
  /** Its anchor, as GitHub makes them. */
  id: string
}

export interface Rendered {
  html: string
  headings: Heading[]
}

export interface Links {
  /**
   * Where a link of the Markdown leads: another page, or what stands there. Null for what may not
   * be linked.
   */
  link(href: string): string | null
  /** Where a picture is; null when there is no such picture. */
  picture(href: string): string | null
}

type Renderer = (markdown: string, links: Links) => Rendered

/** Loads the parser when the first page is asked for, not at start. */
export async function loadRenderer(): Promise<Renderer> {
  const { Marked } = await import('marked')
  return (markdown, links) => render(Marked, markdown, links)
}

function render(Marked: typeof MarkedClass, markdown: string, links: Links): Rendered {
  const headings: Heading[] = []
  const taken = new Map<string, number>()
  const tables = new Map<string, number>()
  const marked = new Marked({
    async: false,
    renderer: {
      html: ({ text }) => escapeHtml(text),
      code: ({ text, lang = '' }) =>
        `<pre tabindex="0"><code>${highlight(text, lang)}\n</code></pre>\n`,
      heading({ tokens, depth }) {
        const text = plainText(tokens)
        const id = anchor(text, taken)
        headings.push({ depth, text, id })
        const link =
          depth === 1
            ? ''
            : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          row
            .map(
              ({ tokens, align }) =>
                `<${tag}${align ? ` class="${align}"` : ''}>${this.parser.parseInline(tokens)}</${tag}>`,
            )
            .join('')
        const body = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return (
          `<div class="table" role="region" aria-label="${escapeHtml(label(headings, tables))}" ` +
          `tabindex="0"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>\n` +
          `${body}\n</tbody></table></div>\n`
        )
      },
      link({ href, tokens }) {
        const target = links.link(href)
        const text = this.parser.parseInline(tokens)
        return target === null ? text : `<a href="${escapeHtml(target)}">${text}</a>`
      },
      image({ href, text }) {
        const source = links.picture(href)
        return source === null
          ? escapeHtml(text)
          : picture(
              `<img src="${escapeHtml(source)}" alt="${escapeHtml(text)}" loading="lazy">`,
              links.picture(darkOf(href)),
            )
      },
    },
  })
  return { html: marked.parse(markdown) as string, headings }
}

/** `docs-page.webp` -> `docs-page-dark.webp`: shown where dark pages are wanted, if there is one. */
function darkOf(href: string): string {
  return href.replace(/(?=\.\w+$)/, '-dark')
}

function picture(image: string, dark: string | null): string {
  if (dark === null) return image
  const source = `<source srcset="${escapeHtml(dark)}" media="(prefers-color-scheme: dark)">`
  return `<picture>${source}${image}</picture>`
}

/** What a table is called: by the heading above it, and a number where it is not the first. */
function label(headings: readonly Heading[], tables: Map<string, number>): string {
  const text = headings.at(-1)?.text ?? ''
  const count = (tables.get(text) ?? 0) + 1
  tables.set(text, count)
  return ['Table', ...(text ? [text] : []), ...(count > 1 ? [count] : [])].join(', ')
}

/** The words of a heading, without marks. */
export function plainText(tokens: Tokens.Generic[]): string {
  return tokens
    .map((token) =>
      token.tokens ? plainText(token.tokens) : 'text' in token ? String(token.text) : '',
    )
    .join('')
}

/** `What's new?` -> `whats-new`; a second one gets `-1` behind it. */
export function anchor(text: string, taken: Map<string, number>): string {
  const plain = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
  const times = taken.get(plain) ?? 0
  taken.set(plain, times + 1)
  return times === 0 ? plain : `${plain}-${times}`
}
