/** Backups: made, checked, and rehearsed. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { bytes, count, duration } from '../../core/format.js'
import { runLong } from '../../core/jobs.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Facts, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { Empty, Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.operating
type Backup = Output<'backups.list'>[number]
type Proof = Output<'backups.verify'> | Output<'backups.drill'>

export function Backups() {
  const reading = useCall('backups.list', {})
  const [isMaking, setMaking] = useState(false)
  return (
    <Section
      title={t.views.backups}
      note={t.backupsNote}
      aside={
        !isViewer.value && (
          <Button kind="primary" onClick={() => setMaking(true)}>
            {t.makeBackup}
          </Button>
        )
      }
    >
      <Loaded reading={reading} lines={5}>
        {(backups) => (
          <Table
            label={t.views.backups}
            rows={backups}
            keyOf={({ to, made_at: at }) => `${to} ${at}`}
            empty={<Empty title={t.noBackups}>{t.noBackupsMore}</Empty>}
            columns={[
              { head: t.folder, cell: ({ to }) => <code>{to}</code>, isLong: true },
              { head: t.made, cell: ({ made_at: at }) => <When at={at} /> },
              { head: texts.configuration.by, cell: ({ made_by: by }) => by, isWide: true },
              {
                head: texts.words.state,
                cell: ({ present }) => (
                  <Badge tone={present ? 'good' : 'calm'}>{present ? t.there : t.elsewhere}</Badge>
                ),
              },
              { head: t.check, cell: (backup) => <Acts backup={backup} /> },
            ]}
          />
        )}
      </Loaded>
      {isMaking && (
        <MakeBackup
          onClose={() => setMaking(false)}
          onDone={async () => {
            setMaking(false)
            await reading.reload()
          }}
        />
      )}
    </Section>
  )
}

function Acts({ backup: { to, present } }: { backup: Backup }) {
  const [busy, setBusy] = useState<'verify' | 'drill' | null>(null)
  const [proof, setProof] = useState<Proof | null>(null)
  async function run(what: 'verify' | 'drill') {
    setBusy(what)
    await act(async () => setProof(await runLong(`backups.${what}`, { to })))
    setBusy(null)
  }
  if (!present) return null
  return (
    <span class="row">
      <Button onClick={() => run('verify')} isBusy={busy === 'verify'}>
        {t.verify}
      </Button>
      <Button onClick={() => run('drill')} isBusy={busy === 'drill'} disabled={isViewer.value}>
        {t.drill}
      </Button>
      {proof && <ShowProof proof={proof} onClose={() => setProof(null)} />}
    </span>
  )
}

function ShowProof({ proof, onClose }: { proof: Proof; onClose: () => void }) {
  const { contents, journal, audit, sound } = proof
  const unproved = 'unproved' in proof ? proof.unproved : null
  const chain = (found: { sound: boolean; faults: readonly unknown[] } | null) =>
    found === null
      ? t.unproved(unproved ?? '')
      : found.sound
        ? t.whole
        : t.faulty(found.faults.length)
  return (
    <Dialog title={proof.backup} onClose={onClose}>
      <p>
        <Badge tone={sound ? 'good' : 'bad'}>{sound ? t.isSound : t.isUnsound}</Badge>
      </p>
      <Facts
        facts={[
          [t.made, <When at={proof.made_at} />],
          'files' in proof
            ? [t.files, `${count(proof.files)}, ${bytes(proof.bytes)}`]
            : [t.restored, duration(proof.restored_in / 1000)],
          ...('proved_in' in proof ? [[t.proved, duration(proof.proved_in / 1000)] as const] : []),
          ...(contents
            ? [
                [
                  t.holds,
                  t.holdsMany(
                    count(contents.subscribers),
                    count(contents.keys),
                    count(contents.purchase_orders),
                  ),
                ] as const,
              ]
            : []),
          [t.journal, chain(journal)],
          [t.audit, chain(audit)],
        ]}
      />
    </Dialog>
  )
}

function MakeBackup({ onClose, onDone }: { onClose: () => void; onDone: () => Promise<void> }) {
  const [to, setTo] = useState('')
  const [done, setDone] = useState<number | null>(null)
  return (
    <Dialog title={t.makeBackup} onClose={onClose}>
      <ActForm
        act={t.makeBackup}
        onCancel={onClose}
        isReady={to.trim() !== ''}
        doIt={async () => {
          const made = await runLong('backups.make', { to: to.trim() }, ({ done: part, total }) =>
            setDone(total > 0 ? part / total : null),
          )
          tell(t.backedUp(made.to, bytes(made.bytes)))
          await onDone()
        }}
      >
        <p class="quiet">{t.backupMeans}</p>
        <TextField label={t.folder} help={t.folderHelp} value={to} onInput={setTo} isFirst />
        {done !== null && <progress value={done} aria-label={t.makeBackup} />}
      </ActForm>
    </Dialog>
  )
}
