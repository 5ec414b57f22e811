/** What went over the wire for an order; secrets were taken out before it was kept. */
import type { KeptTranscript } from '../../../lib/orders/transcripts.js'
import { Badge, When } from '../../parts/basics.js'
import { texts } from '../../texts.js'

export function Transcripts({ transcripts }: { transcripts: readonly KeptTranscript[] }) {
  if (transcripts.length === 0) return null
  return (
    <details class="fold">
      <summary>
        {texts.orders.transcripts} <span class="count">{transcripts.length}</span>
      </summary>
      <div class="body stack">
        {transcripts.map((transcript) => (
          <Transcript key={`${transcript.kind} ${transcript.at}`} transcript={transcript} />
        ))}
      </div>
    </details>
  )
}

export function Transcript({
  transcript: { kind, at, exchanges },
}: {
  transcript: KeptTranscript
}) {
  return (
    <div class="stack tight">
      <p class="row">
        <Badge tone="accent">{kind}</Badge>
        <When at={at} />
      </p>
      {exchanges.map((exchange) => (
        <div class="stack tight" key={exchange.at}>
          <p class="row">
            <code>
              {exchange.method} {exchange.path}
            </code>
            <Badge tone={exchange.fault ? 'bad' : 'calm'}>
              {exchange.status ?? exchange.fault ?? '–'}
            </Badge>
            <span class="quiet">{exchange.took} ms</span>
          </p>
          {exchange.request && <pre tabIndex={0}>{exchange.request}</pre>}
          {exchange.answer && <pre tabIndex={0}>{exchange.answer}</pre>}
        </div>
      ))}
    </div>
  )
}
