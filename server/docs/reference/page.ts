/**
 * The reference: every operation of this server on one page, whole without any script. What can be
 * tried, and found by words, is in assets/reference.js.
 */
import type { Registry } from '../../../lib/distributors/registry.js'
import { assetAddress } from '../files.js'
import type { Asset } from '../files.js'
import { escapeHtml, pageHtml } from '../html.js'
import { anchorOf, describedBy, operationsOf } from '../openapi.js'
import type { Called, OpenApi } from '../openapi.js'
import { SERVER } from './curl.js'
import { SHARED_ANCHOR, methodBadge, operationHtml, refusalDetails } from './operation.js'
import { inline, prose } from './parts.js'

/** The page; it is the same for every caller. */
export function referencePage(registry: Registry, assets: ReadonlyMap<string, Asset>): string {
  const document = describedBy(registry)
  const operations = operationsOf(document)
  const asset = (name: string) => assetAddress(assets, name)
  return pageHtml({
    title: 'Quartermaster API reference',
    description: 'Every operation of this server, to read and to try',
    at: 'reference',
    icon: asset('icon.svg'),
    styles: [asset('tokens.css'), asset('docs.css'), asset('reference.css')],
    scripts: [asset('docs.js'), asset('reference.js')],
    body: `<div class="columns">
<aside>
${sideList(document, operations)}
</aside>
<main id="content" tabindex="-1">
${panel(document, operations)}
${document.tags.map((tag) => section(tag, document, operations)).join('\n')}
${sharedRefusals(document)}
</main>
</div>
${CONFIRM}`,
  })
}

const CONFIRM = `<dialog id="confirm" aria-labelledby="confirm-title">
<form method="dialog">
<h2 id="confirm-title">Place a real order?</h2>
<p id="confirm-text"></p>
<div class="row">
<button class="button" value="no" autofocus>Do not send</button>
<button class="button danger" value="yes">Place the real order</button>
</div>
</form>
</dialog>`

function sideList({ tags }: OpenApi, operations: readonly Called[]): string {
  const groups = tags.map(({ name }) => {
    const links = operations
      .filter((operation) => operation.tags[0] === name)
      .map(
        (operation) =>
          `<li><a href="#${anchorOf(operation)}">${methodBadge(operation.method)} ` +
          `<span>${escapeHtml(operation.path.replace(/^\/v1/, ''))}</span></a></li>`,
      )
    return `<li><a class="group" href="#${name}">${name}</a>\n<ul>\n${links.join('\n')}\n</ul></li>`
  })
  return `<div class="filter" hidden>
<label class="unseen" for="filter">Find an operation</label>
<input id="filter" type="search" autocomplete="off" spellcheck="false" aria-describedby="count"
  placeholder="orders, POST, tracking">
<p id="count" class="note" role="status"></p>
</div>
<details class="contents">
<summary>Operations</summary>
<nav aria-label="Operations"><ul>
${groups.join('\n')}
<li><a class="group" href="#${SHARED_ANCHOR}">refusals of every operation</a></li>
</ul></nav>
</details>`
}

function panel({ info }: OpenApi, operations: readonly Called[]): string {
  return `<h1>API reference <small>${escapeHtml(info.version)}</small></h1>
<p class="lead">The ${operations.length} operations of this server. The <a href="/v1/docs/guide">guide</a> \
takes 20 minutes from the first call to a tracked order; for programs there are \
<a href="/v1/openapi.json">openapi.json</a> and <a href="/v1/llms.txt">llms.txt</a>.</p>
<section class="panel" aria-label="This server" hidden>
<div>
<p id="mode" class="mode" role="status" data-mode="unknown">Asking this server for its mode.</p>
<p class="note">Base address: <code id="base" data-written="${SERVER}">${SERVER}</code></p>
</div>
<form id="key-form" autocomplete="off">
<label for="key">API key</label>
<div class="row">
<input id="key" type="text" maxlength="100" autocomplete="off" autocapitalize="none" \
spellcheck="false" placeholder="40 letters and digits" aria-describedby="key-note">
<button type="submit" class="button">Check</button>
</div>
<p id="key-note" class="note" role="status">Sent as x-api-key with what you try here. \
This page forgets it when it is reloaded or closed.</p>
</form>
</section>
<details class="about"><summary>What holds for every operation</summary>
${prose(info.description)}
</details>`
}

function section(
  { name, description }: { name: string; description: string },
  document: OpenApi,
  operations: readonly Called[],
): string {
  const own = operations.filter((operation) => operation.tags[0] === name)
  return `<section class="tag" aria-labelledby="${name}">
<h2 id="${name}">${name}</h2>
<p>${inline(description)}</p>
${own.map((operation) => operationHtml(operation, document)).join('\n')}
</section>`
}

function sharedRefusals(document: OpenApi): string {
  const { responses } = document.components
  const statuses = new Map(
    operationsOf(document)
      .flatMap((operation) => Object.entries(operation.responses))
      .flatMap(([status, given]) =>
        '$ref' in given ? [[given.$ref.slice(given.$ref.lastIndexOf('/') + 1), status]] : [],
      ) as [string, string][],
  )
  const shown = Object.entries(responses)
    .filter(([name]) => statuses.has(name))
    .toSorted(([a], [b]) => Number(statuses.get(a)) - Number(statuses.get(b)))
    .map(([name, answer]) => refusalDetails(statuses.get(name)!, answer, document))
  return `<section class="tag" aria-labelledby="${SHARED_ANCHOR}">
<h2 id="${SHARED_ANCHOR}">refusals of every operation</h2>
<p>Each with its example and its headers. <a href="/docs/guide/errors">Errors and retries</a> says \
of each code whether, when and how to try again.</p>
${shown.join('\n')}
</section>`
}
