/** What runs here. */
import { bytes, duration } from '../../core/format.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Facts, Section } from '../../parts/basics.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'

const t = texts.operating

export function About() {
  const reading = useCall('overview.about', {})
  return (
    <Loaded reading={reading} lines={8}>
      {({ node, dir, service, free_bytes: free, uptime_seconds: uptime, files }) => (
        <>
          <Section title={t.views.about}>
            <Facts
              facts={[
                [t.service, <Badge tone={service === 'live' ? 'bad' : 'calm'}>{service}</Badge>],
                [t.node, node],
                [t.folder, <code>{dir}</code>],
                [t.free, bytes(free)],
                [t.uptime, duration(uptime)],
              ]}
            />
          </Section>
          <Section title={t.files}>
            <Table
              label={t.files}
              rows={files}
              keyOf={({ name }) => name}
              columns={[
                { head: texts.words.file, cell: ({ name }) => <code>{name}</code> },
                { head: t.size, cell: ({ bytes: size }) => bytes(size), isNumber: true },
              ]}
            />
          </Section>
        </>
      )}
    </Loaded>
  )
}
