/** What runs here. */
import { bytes, duration } from '../../core/format.js'
import { useCall } from '../../core/use-call.js'
import type { Output } from '../../core/api.js'
import { Badge, Facts, Section, When } from '../../parts/basics.js'
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
          <Nodes />
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

type NodeList = Output<'nodes.list'>

/** Nothing where there is one folder. */
function Nodes() {
  const { data: shown } = useCall('nodes.list', {})
  if (!shown?.shared) return null
  const { epoch, nodes } = shown
  return (
    <Section title={t.nodes} note={epoch === null ? t.noLead : t.nodesNote(String(epoch))}>
      <Table
        label={t.nodes}
        rows={nodes}
        keyOf={({ host, dir, pid }) => `${host} ${dir} ${pid}`}
        columns={[
          { head: t.host, cell: ({ host }) => host },
          { head: t.folder, cell: ({ dir }) => <code>{dir}</code> },
          { head: t.release, cell: ({ release }) => release },
          { head: t.seen, cell: ({ seen_at: at }) => <When at={at} /> },
          { head: texts.words.state, cell: (node) => <NodeBadge node={node} /> },
          { head: t.catalogOf, cell: ({ behind }) => catalogOf(behind) },
          {
            head: t.documentsOf,
            cell: ({ lacks_documents: lacks }) => <Documents lacks={lacks} />,
            isLong: true,
          },
        ]}
      />
    </Section>
  )
}

/** Documents of distributors that a node does not have as the others have them. */
function Documents({ lacks }: { lacks: NodeList['nodes'][number]['lacks_documents'] }) {
  if (lacks.length === 0) return t.allRead
  return lacks.map(({ distid, why, fault }) => (
    <div key={distid}>
      <Badge tone={why === 'unusable' ? 'bad' : 'warn'}>{distid}</Badge> {t.lacksDocument[why]}
      {fault !== null && <span class="quiet">: {fault}</span>}
    </div>
  ))
}

function NodeBadge({ node: { gone, leads } }: { node: NodeList['nodes'][number] }) {
  if (gone) return <Badge tone="warn">{t.nodeStates.gone}</Badge>
  return leads ? (
    <Badge tone="good">{t.nodeStates.leads}</Badge>
  ) : (
    <Badge>{t.nodeStates.follows}</Badge>
  )
}

const catalogOf = (behind: number | null): string =>
  behind === null ? t.lacksAll : behind === 0 ? t.newestCatalog : t.lacks(behind)
