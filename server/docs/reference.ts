/**
 * The interactive page of all operations: Swagger UI under a header of our own. All that moves is
 * in assets/reference.js.
 */
import { assetAddress } from './files.js'
import type { Asset } from './files.js'
import { pageHtml } from './html.js'

const BODY = `<section class="panel" aria-label="This server">
  <div class="wrap">
    <h1>API reference <small id="version"></small></h1>
    <p>Every operation of this server, to read and to try. Read the <a \
href="/v1/docs/guide">guide</a> first: 20 minutes from the first call to a tracked order. For \
programs: <a href="/v1/openapi.json">openapi.json</a>, <a href="/v1/llms.txt">llms.txt</a>.</p>
    <p id="mode" class="mode" role="status" data-mode="unknown">Asking this server for its mode.</p>
    <div class="fields">
      <form id="key-form" autocomplete="off">
        <label for="key">API key</label>
        <div class="row">
          <input id="key" type="text" maxlength="100" autocomplete="off" autocapitalize="none" \
spellcheck="false" placeholder="40 letters and digits" aria-describedby="key-note">
          <button type="submit">Check</button>
        </div>
        <p id="key-note" class="note" role="status">Sent as x-api-key with what you try here. \
This page forgets it when it is reloaded or closed.</p>
      </form>
      <div>
        <label for="filter">Find an operation</label>
        <input id="filter" type="search" autocomplete="off" spellcheck="false" placeholder="orders, POST, tracking">
        <p class="note"><span id="count" role="status"></span> Base address: <code id="base"></code></p>
      </div>
    </div>
  </div>
</section>
<div id="content" class="wrap" tabindex="-1">
  <noscript><p class="mode" data-mode="unknown">This page needs JavaScript. Without it, read \
the <a href="/v1/docs/guide">guide</a> and <a href="/docs/llms-full.txt">all operations as \
text</a>.</p></noscript>
  <p id="failure" class="mode" data-mode="live" role="alert" hidden></p>
  <div id="api"></div>
</div>
<dialog id="confirm" aria-labelledby="confirm-title">
  <form method="dialog">
    <h2 id="confirm-title">Place a real order?</h2>
    <p id="confirm-text"></p>
    <div class="row">
      <button value="no" autofocus>Do not send</button>
      <button value="yes" class="danger">Place the real order</button>
    </div>
  </form>
</dialog>`

/** The page; it is the same for every caller, and the browser asks this server for the rest. */
export function referencePage(assets: ReadonlyMap<string, Asset>): string {
  const asset = (name: string) => assetAddress(assets, name)
  return pageHtml({
    title: 'Quartermaster API reference',
    description: 'Every operation of this server, to read and to try',
    at: 'reference',
    icon: asset('icon.svg'),
    styles: [asset('swagger-ui.css'), asset('docs.css'), asset('reference.css')],
    scripts: [asset('swagger-ui-bundle.js'), asset('reference.js')],
    body: BODY,
  })
}
