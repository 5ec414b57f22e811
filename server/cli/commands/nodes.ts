/** The nodes of an installation that has several. */
import { installationOperations } from '../../../lib/app/operations/installation.js'
import { showNodes } from '../../../lib/app/nodes/show.js'
import type { ShownNodes } from '../../../lib/app/nodes/show.js'
import { lackText } from '../../../lib/distributors/document/kept/lacks.js'
import { SECOND } from '../../../lib/core/clock.js'
import { times } from '../../../lib/core/figures.js'
import type { Command, Invocation } from '../command.js'
import { printable } from '../faults.js'
import { carriesOut } from '../operation-help.js'
import { withApp } from '../with-app.js'

async function nodes({ dir, out }: Invocation): Promise<void> {
  await withApp(dir, async ({ ctx }) => {
    const shown = await showNodes(ctx)
    if (shown.shared) {
      out.table(shown.nodes.map(rowOf))
      out.line(leadLine(shown))
      for (const { host, dir: folder, lacks_documents: lacks } of shown.nodes)
        if (lacks.length > 0)
          out.line(`${host}:${folder} has not read ${printable(lackText(lacks))}.`)
    } else out.line(`${ctx.engine.dir} is the installation: it has one server, and no nodes.`)
    out.result(shown)
  })
}

const rowOf = ({ host, dir, pid, release, seen_at: seen, gone, leads, behind }: ShownNode) => ({
  host,
  dir,
  pid,
  release,
  seen,
  state: gone ? 'gone' : leads ? 'leads' : 'follows',
  catalog:
    behind === null ? 'begins' : behind === 0 ? 'newest' : times(behind, 'change') + ' behind',
})
type ShownNode = ShownNodes['nodes'][number]

function leadLine({ epoch, lease_age_ms: age }: ShownNodes): string {
  return age === null
    ? 'No node leads: nothing is sent, and no feed is taken in.'
    : `Epoch ${epoch}; the lead was renewed ${(age / SECOND).toFixed(1)} s ago.`
}

export const nodesCommand: Command = carriesOut(installationOperations, 'nodes.list', {
  name: 'nodes',
  effect: 'reads',
  example: 'quartermaster nodes',
  run: nodes,
})
