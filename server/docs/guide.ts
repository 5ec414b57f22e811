/** The guide: Markdown files of data/guide as pages that link each other. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { assetAddress } from './files.js'
import type { Asset } from './files.js'
import { escapeHtml, pageHtml } from './html.js'
import { loadRenderer } from './markdown.js'
import type { Heading, Links, Rendered } from './markdown.js'
import { GROUPS, PAGES, addressOf, markdownAddressOf } from './pages.js'
import type { Page } from './pages.js'

/** The Markdown of a page. */
export function readPage(folder: string, { name }: Pick<Page, 'name'>): Promise<string> {
  return readFile(join(folder, `${name}.md`), 'utf8')
}

/** Markdown as HTML, with its headings. */
export async function renderPage(
  markdown: string,
  assets: ReadonlyMap<string, Asset>,
): Promise<Rendered> {
  const render = await loadRenderer()
  return render(markdown, linksOf(assets))
}

/** A page of the guide with navigation around it. */
export async function guidePage(
  page: Page,
  folder: string,
  assets: ReadonlyMap<string, Asset>,
): Promise<string> {
  const { html, headings } = await renderPage(await readPage(folder, page), assets)
  const asset = (name: string) => assetAddress(assets, name)
  return pageHtml({
    title: `${page.title} · Quartermaster`,
    description: page.summary,
    at: 'guide',
    icon: asset('icon.svg'),
    styles: [asset('tokens.css'), asset('docs.css')],
    scripts: [asset('docs.js')],
    body: `<div class="columns">
<aside>
${contents(page, headings)}
</aside>
<main id="content" tabindex="-1">
${html}${neighbours(page)}
</main>
</div>`,
  })
}

/**
 * `orders.md#anchor` leads to the page, `#anchor` stays, other hosts are linked as they are;
 * anything else is no link.
 */
function linksOf(assets: ReadonlyMap<string, Asset>): Links {
  return {
    link(href) {
      if (/^(#|https?:\/\/|mailto:)/.test(href)) return href
      const [, name, anchor = ''] = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? []
      const page = PAGES.find((candidate) => candidate.name === name)
      if (page) return addressOf(page) + anchor
      return /^\/(v1|docs)\/[\w./-]*(#[\w-]*)?$/.test(href) ? href : null
    },
    picture: (href) => assets.get(href)?.address ?? null,
  }
}

/** The part of a title before its colon, which is enough in a list. */
function shortTitle({ title }: Page): string {
  return title.replace(/:.*/s, '')
}

function contents(current: Page, headings: readonly Heading[]): string {
  const sections = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
    .join('\n')
  const item = (page: Page) =>
    page === current
      ? `<li><a href="${addressOf(page)}" ` +
        `aria-current="page">${escapeHtml(shortTitle(page))}</a>\n<ul class="here">${sections}</ul></li>`
      : `<li><a href="${addressOf(page)}">${escapeHtml(shortTitle(page))}</a></li>`
  const groups = GROUPS.map(
    ({ title, pages }) =>
      `<li><span class="group">${escapeHtml(title)}</span>\n<ul>\n${pages.map(item).join('\n')}\n</ul></li>`,
  )
  return `<details class="contents">
<summary>Contents</summary>
<nav aria-label="Guide"><ul class="groups">
${groups.join('\n')}
</ul></nav>
</details>`
}

function neighbours(page: Page): string {
  const at = PAGES.indexOf(page)
  const link = (other: Page | undefined, rel: string, text: string) =>
    other
      ? `<a rel="${rel}" href="${addressOf(other)}"><small>${text}</small> ` +
        `${escapeHtml(shortTitle(other))}</a>`
      : '<span></span>'
  const [before, next] = [
    link(PAGES[at - 1], 'prev', 'Before'),
    link(PAGES[at + 1], 'next', 'Next'),
  ]
  return `<nav class="neighbours" aria-label="Next pages">${before}${next}</nav>
<p class="source"><a href="${markdownAddressOf(page)}">This page as Markdown</a></p>`
}
