/** Rules from a file: what they would change, rule by rule and state by state, and then taken in. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call } from '../../core/call.js'
import { count } from '../../core/format.js'
import { Badge, Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { Check, FileField, TextArea } from '../../parts/fields.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { isViewer } from '../../core/session.js'

const t = texts.restrictions
type Diff = Output<'rules.diff'>

export function ImportRules() {
  const [text, setText] = useState('')
  const [origin, setOrigin] = useState<string>(t.pasted)
  const [replaces, setReplaces] = useState(false)
  const [diff, setDiff] = useState<Diff | null>(null)
  async function read(file: File | null) {
    if (!file) return
    setDiff(null)
    setOrigin(file.name)
    setText(await file.text())
  }
  return (
    <>
      <Section title={t.views.import} note={t.importNote}>
        <div class="body">
          <ActForm
            act={t.compare}
            isReady={text.trim() !== ''}
            doIt={async () => setDiff(await call('rules.diff', { text, replace: replaces }))}
          >
            <FileField
              label={texts.words.file}
              accept=".json,.jsonl,application/json"
              onFile={read}
            />
            <TextArea
              label={t.rulesText}
              isCode
              rows={8}
              value={text}
              onInput={(next) => {
                setText(next)
                setDiff(null)
              }}
            />
            <Check
              label={t.replace}
              help={t.replaceHelp}
              isOn={replaces}
              onChange={(next) => {
                setReplaces(next)
                setDiff(null)
              }}
            />
          </ActForm>
        </div>
      </Section>
      {diff && (
        <Section
          title={t.wouldChange}
          id="diff"
          aside={
            <>
              <Badge tone="good">{t.added(diff.added.length)}</Badge>
              <Badge tone="accent">{t.changed(diff.changed.length)}</Badge>
              <Badge tone="bad">{t.removed(diff.removed.length)}</Badge>
            </>
          }
        >
          <ChangedRules diff={diff} />
          <Table
            label={t.offersByState}
            rows={diff.impact.states.filter(({ changed }) => changed > 0)}
            keyOf={({ state }) => state}
            empty={<p class="quiet pad">{t.noOfferChanges(diff.impact.offers)}</p>}
            columns={[
              { head: t.state, cell: ({ state }) => state },
              {
                head: t.blockedBefore,
                cell: ({ before }) => count(before.blocked),
                isNumber: true,
              },
              { head: t.blockedAfter, cell: ({ after }) => count(after.blocked), isNumber: true },
              { head: t.heldBefore, cell: ({ before }) => count(before.held), isNumber: true },
              { head: t.heldAfter, cell: ({ after }) => count(after.held), isNumber: true },
              { head: t.changedOffers, cell: ({ changed }) => count(changed), isNumber: true },
            ]}
          />
          <div class="body">
            <ActForm
              act={t.takeIn}
              isReady={!isViewer.value}
              doIt={async () => {
                const done = await call('rules.import', { text, origin, replace: replaces })
                tell(t.accepted(done.added.length, done.changed.length))
                setDiff(null)
                setText('')
              }}
            >
              <p class="quiet">{t.atOnce}</p>
            </ActForm>
          </div>
        </Section>
      )}
    </>
  )
}

function ChangedRules({ diff }: { diff: Diff }) {
  const rows = (['added', 'changed', 'removed'] as const).flatMap((change) =>
    diff[change].map((id) => ({ id, change })),
  )
  const tones = { added: 'good', changed: 'accent', removed: 'bad' } as const
  return (
    <Table
      label={t.wouldChange}
      rows={rows}
      keyOf={({ id, change }) => `${change} ${id}`}
      empty={<p class="quiet pad">{t.nothingChanges}</p>}
      columns={[
        { head: t.rule, cell: ({ id }) => <code>{id}</code> },
        { head: t.change, cell: ({ change }) => <Badge tone={tones[change]}>{change}</Badge> },
      ]}
    />
  )
}
