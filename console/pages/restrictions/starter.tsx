/** The starter set, accepted family by family. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { words } from '../../core/format.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { aboutOf, whereOf } from './rule.js'
import type { ShownRule } from './rule.js'

const t = texts.restrictions
type Family = Output<'rules.starter'>['families'][number]

export function Starter() {
  const reading = useCall('rules.starter', {})
  return (
    <Loaded reading={reading} lines={10}>
      {({ families, date }) => (
        <>
          <p class="quiet">
            {t.starterNote} {t.reviewed}: <When at={date} />
          </p>
          {families.map((family) => (
            <OneFamily key={family.family} family={family} onChange={reading.reload} />
          ))}
        </>
      )}
    </Loaded>
  )
}

function OneFamily({ family, onChange }: { family: Family; onChange: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false)
  const { family: name, rules, active } = family
  const isWhole = active >= rules.length
  async function accept() {
    setBusy(true)
    await act(async () => {
      const { added, changed } = await call('rules.accept', { families: [name] })
      await onChange()
      return t.accepted(added.length, changed.length)
    })
    setBusy(false)
  }
  return (
    <Section
      title={words(name)}
      aside={
        <>
          <Badge tone={isWhole ? 'good' : 'warn'}>{t.activeOf(active, rules.length)}</Badge>
          {!isWhole && (
            <Button kind="primary" isBusy={isBusy} disabled={isViewer.value} onClick={accept}>
              {t.accept}
            </Button>
          )}
        </>
      }
    >
      <details class="fold">
        <summary>{t.lookAt(rules.length)}</summary>
        <Table
          label={words(name)}
          rows={rules as ShownRule[]}
          keyOf={({ rule_id: id, version }) => `${id} ${version}`}
          columns={[
            { head: t.rule, cell: ({ rule_id: id }) => <code>{id}</code> },
            { head: t.kind, cell: ({ kind }) => t.kinds[kind] },
            { head: t.where, cell: (rule) => whereOf(rule) },
            { head: t.about, cell: (rule) => aboutOf(rule), isLong: true },
            { head: t.law, cell: ({ citations = [] }) => citations[0]?.cite ?? '–', isWide: true },
          ]}
        />
      </details>
    </Section>
  )
}
