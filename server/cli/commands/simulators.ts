import { HOUR } from '../../../lib/core/clock.js'
import { openStandAlone } from '../../../lib/simulator/stand-alone.js'
import { logLevel } from '../../env.js'
import { openLog } from '../../log.js'
import { list, optional, UsageError } from '../command.js'
import type { Command, Invocation } from '../command.js'

/** `LIP=8443` as distid and port. */
function portsIn(values: Invocation['values']): Record<string, number> {
  return Object.fromEntries(
    list(values, 'port').map((text) => {
      const [, distid, port] = /^([A-Za-z0-9]+(?:-FTP)?)=(\d{1,5})$/i.exec(text) ?? []
      if (distid === undefined || port === undefined || Number(port) > 65_535)
        throw new UsageError(`--port takes a distid and a port, such as LIP=8443, not "${text}"`)
      return [distid.toUpperCase(), Number(port)]
    }),
  )
}

async function run({ dir, values, out }: Invocation): Promise<void> {
  const names = optional(values, 'tls')?.split(',')
  const opened = await openStandAlone({
    dir,
    now: Date.now,
    log: openLog(logLevel()),
    ports: portsIn(values),
    ...(names && { tlsNames: names }),
  })
  const { distributors, certificate, close } = opened
  for (const { distid, address, files, credentials } of distributors) {
    out.line(`${distid} answers at ${address}${files === null ? '' : ` and ${files}`}`)
    for (const [setting, value] of Object.entries(credentials)) out.line(`  ${setting}: ${value}`)
  }
  if (certificate !== null) out.line(`Trust the certificate in ${certificate}.`)
  out.line('Nothing real is ordered. Stop with Ctrl-C.')
  out.result({ distributors, certificate })
  // The servers themselves keep no process alive.
  const awake = setInterval(() => {}, HOUR)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  clearInterval(awake)
  close()
}

export const simulatorsCommand: Command = {
  name: 'simulators',
  summary: 'Serve the simulated distributors alone, to try another program against them',
  effect: 'serves',
  options: { port: { type: 'string', multiple: true }, tls: { type: 'string' } },
  help: {
    port: 'distid and port, such as LIP=8443 or RSR-FTP=2222; a free port by default. May be repeated',
    tls: 'over TLS, with a certificate of their own for these host names, split by commas',
  },
  example: 'quartermaster simulators --dir ./simulators --port LIP=8443 --tls api.lipseys.com',
  run,
}
