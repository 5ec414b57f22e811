/** What is well with an installation and the machine under it, and what mends the rest. */
import { resolve } from 'node:path'
import { examine } from '../../../lib/app/look/doctor.js'
import type { Examination } from '../../../lib/app/look/doctor.js'
import { times } from '../../../lib/core/figures.js'
import type { Severity } from '../../../lib/core/finding.js'
import { builtin, presets } from '../../../lib/distributors/builtin/index.js'
import { withDocuments } from '../../../lib/distributors/document/kept/folder.js'
import { withServers } from '../../../lib/distributors/servers.js'
import { optional } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { egressFromEnvironment, serversFromEnvironment } from '../../env.js'
import { placesOf } from '../../places.js'
import { printable } from '../faults.js'
import { carriesOut } from '../operation-help.js'
import { installationOperations } from '../../../lib/app/operations/installation.js'
import type { Output } from '../output.js'
import { wrap } from '../output.js'
import { ownVersion } from '../version.js'

/** Not 2, which says that the line was wrong. */
const EXIT: Readonly<Record<Severity, number>> = { ok: 0, info: 0, warn: 1, bad: 3 }

async function doctor({ dir: folder, values, out }: Invocation): Promise<number> {
  const dir = resolve(folder)
  const { servers = {} } = serversFromEnvironment()
  const places = placesOf({ journalCopy: values['journal-copy'] === true })
  // Those of nodes have their documents in the database, which is looked at.
  const known = places.database === undefined ? distributorsOf(dir) : builtin
  const found = await examine({
    dir,
    program: ownVersion(),
    now: Date.now,
    monotonic: () => performance.now(),
    distributors: withServers(known, servers),
    egress: egressFromEnvironment().egress ?? {},
    backups: optional(values, 'backups'),
    offline: values['offline'] === true,
    ...places,
  })
  show(out, found, places.database === undefined ? dir : 'the installation that nodes share')
  out.result(found)
  return EXIT[found.worst]
}

/** With its documents, where they can be read. */
function distributorsOf(dir: string) {
  try {
    return withDocuments(builtin, dir, new Set(Object.keys(presets)))
  } catch {
    return builtin
  }
}

/** As wide as the longest severity, and two blanks. */
const INDENT = ' '.repeat(6)

function show(out: Output, { findings }: Examination, place: string): void {
  for (const { severity, check, message, mend } of findings) {
    const text = wrap(`${check}: ${printable(message)}`, out.width - INDENT.length)
    out.line(severity.padEnd(INDENT.length) + text.replaceAll('\n', `\n${INDENT}`))
    // Whole and on a line of its own, so that it can be copied.
    if (mend !== null && severity !== 'ok') out.line(`${INDENT}-> ${mend}`)
  }
  const count = (severity: Severity) => findings.filter((one) => one.severity === severity).length
  const [bad, warn] = [count('bad'), count('warn')]
  out.line('')
  out.line(
    bad + warn === 0
      ? `All is well in ${place}.`
      : `${place}: ${bad} bad, ${times(warn, 'warning')} of ${times(findings.length, 'finding')}.`,
  )
}

export const doctorCommand: Command = carriesOut(installationOperations, 'overview.examine', {
  name: 'doctor',
  effect: 'reads',
  options: {
    backups: { type: 'string' },
    'journal-copy': { type: 'boolean' },
    offline: { type: 'boolean' },
  },
  help: {
    backups: 'a folder of backups, to see how old the newest is; as the audit has it by default',
    'journal-copy':
      'compare the order journal with its copy in the bucket, which `serve --journal-copy` keeps ' +
      '(also QUARTERMASTER_JOURNAL_COPY=1)',
  },
  example: 'quartermaster doctor --backups /backups',
  run: doctor,
})
