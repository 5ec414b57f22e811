/** The frame that all pages share. */

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Nothing but our own files; no script, style or handler in the page itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
/** A picture that is opened by itself may style itself, and do nothing else. */
const ASSET_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

const SAFE = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }

/** Asked for anew each time, and answered with 304 while nothing has changed. */
const REVALIDATE = { 'cache-control': 'no-cache' }

export const PAGE_HEADERS = {
  ...SAFE,
  ...REVALIDATE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': PAGE_POLICY,
}
export const TEXT_HEADERS = { ...SAFE, ...REVALIDATE, 'content-type': 'text/plain; charset=utf-8' }
export const MARKDOWN_HEADERS = { ...TEXT_HEADERS, 'content-type': 'text/markdown; charset=utf-8' }
export const JSON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'public, max-age=300',
}
export const ASSET_HEADERS = {
  ...SAFE,
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': ASSET_POLICY,
}

export interface Frame {
  title: string
  /** One line for search engines and bookmarks. */
  description: string
  /** Which of the four addresses of the documentation it is. */
  at: 'reference' | 'guide'
  styles: string[]
  scripts: string[]
  icon: string
  body: string
}

const TOP = [
  { at: 'reference', href: '/v1/docs', text: 'API' },
  { at: 'guide', href: '/v1/docs/guide', text: 'Guide' },
  { at: null, href: '/v1/llms.txt', text: 'llms.txt' },
  { at: null, href: '/v1/openapi.json', text: 'openapi.json' },
] as const

/** Filled by assets/docs.js. */
const SEARCH = `<dialog id="search" aria-label="Search the documentation">
<input type="search" aria-label="Words to look for" placeholder="Search the documentation" \
autocomplete="off" spellcheck="false">
<p class="note" role="status"></p>
<ol></ol>
</dialog>`

/** A whole page. `body` is HTML. */
export function pageHtml({ title, description, at, styles, scripts, icon, body }: Frame): string {
  const links = TOP.map(
    (link) =>
      `<a href="${link.href}"${link.at === at ? ' aria-current="true"' : ''}>${link.text}</a>`,
  ).join('\n')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(description)}">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${icon}">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
${scripts.map((src) => `<script defer src="${src}"></script>`).join('\n')}
</head>
<body class="${at}">
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="/v1/docs"><img src="${icon}" alt="" width="20" height="20"> Quartermaster</a>
<nav aria-label="Documentation">
${links}
</nav>
<button id="find" class="find" type="button" aria-haspopup="dialog" hidden>Search <kbd>/</kbd></button>
</header>
${body}
${SEARCH}
</body>
</html>
`
}
