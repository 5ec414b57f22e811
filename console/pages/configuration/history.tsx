/** Every save of the document, what changed with it, and the way back. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { percent } from '../../core/format.js'
import { linkTo, place } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { DifferenceTable } from './differences.js'

const t = texts.configuration

export function History({ shop }: { shop: string }) {
  const versions = useCall('configurations.history', { subscriber: shop })
  const [backTo, setBackTo] = useState<number | null>(null)
  const chosen = Number(place.value.query['version'] ?? versions.data?.[0]?.version ?? 0)
  return (
    <div class="columns">
      <Section title={t.saves}>
        <Loaded reading={versions} lines={8}>
          {(saves) => (
            <Table
              label={t.saves}
              rows={saves}
              keyOf={({ version }) => version}
              hrefOf={({ version }) => linkTo(['configuration', 'history'], { version })}
              empty={<Empty title={t.neverSaved}>{t.neverSavedMore}</Empty>}
              columns={[
                { head: t.versionHead, cell: ({ version }) => version },
                { head: texts.words.when, cell: ({ saved_at: at }) => <When at={at} /> },
                { head: t.by, cell: ({ saved_by: by }) => by },
                {
                  head: t.rollBack,
                  cell: ({ version }) =>
                    version === saves[0]?.version ? (
                      <Badge tone="good">{t.current}</Badge>
                    ) : (
                      <Button disabled={isViewer.value} onClick={() => setBackTo(version)}>
                        {t.rollBack}
                      </Button>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </Section>
      {chosen > 1 && <Differences shop={shop} from={chosen - 1} to={chosen} />}
      {backTo !== null && (
        <RollBack
          shop={shop}
          version={backTo}
          onClose={() => setBackTo(null)}
          onDone={versions.reload}
        />
      )}
    </div>
  )
}

function Differences({ shop, from, to }: { shop: string; from: number; to: number }) {
  const reading = useCall('configurations.diff', { subscriber: shop, from, to })
  return (
    <Section title={t.changedWith(to)}>
      <Loaded reading={reading}>
        {(differences) => <DifferenceTable label={t.changedWith(to)} differences={differences} />}
      </Loaded>
    </Section>
  )
}

function RollBack({
  shop,
  version,
  onClose,
  onDone,
}: {
  shop: string
  version: number
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const preview = useCall('configurations.previewRollback', { subscriber: shop, version })
  return (
    <Dialog title={t.rollBackTo(version)} onClose={onClose}>
      <ActForm
        act={t.rollBack}
        onCancel={onClose}
        isReady={preview.data !== undefined}
        doIt={async () => {
          const saved = await call('configurations.rollback', { subscriber: shop, version })
          tell(t.savedAs(saved.version))
          onClose()
          await onDone()
        }}
      >
        <p>{t.rollBackWhat}</p>
        <Loaded reading={preview} lines={2}>
          {({ impact }) => (
            <p class="quiet">{t.wouldHide(impact.deleted, percent(impact.deleted_percent))}</p>
          )}
        </Loaded>
      </ActForm>
    </Dialog>
  )
}
