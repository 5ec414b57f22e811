/** A save that came second: who saved what in between, and how both go together. */
import type { Output } from '../../core/api.js'
import { useCall } from '../../core/use-call.js'
import { Badge, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Icon } from '../../parts/icons.js'
import { Loaded } from '../../parts/states.js'
import { texts } from '../../texts.js'
import { DifferenceTable } from './differences.js'
import type { Difference } from './differences.js'
import { onTop, replacedBy } from './merge.js'
import type { Json } from './schema.js'

const t = texts.configuration

/** The saved document that changes were made from. */
export type Basis = Output<'configurations.read'>

export function SavedInBetween({
  shop,
  basis,
  mine,
  onClose,
  onTakeOver,
}: {
  shop: string
  basis: Basis
  mine: Json
  onClose: () => void
  onTakeOver: (theirs: Basis, merged: Json) => void
}) {
  const newest = useCall('configurations.read', { subscriber: shop })
  const saves = useCall('configurations.history', { subscriber: shop })
  // What was read before stands there at first.
  const theirs = newest.data?.etag === basis.etag ? undefined : newest.data
  const merged = theirs && onTop(basis.configuration as Json, mine, theirs.configuration as Json)
  return (
    <Dialog title={t.inBetween} onClose={onClose} isWide>
      <ActForm
        act={t.takeOver}
        onCancel={onClose}
        isReady={merged !== undefined}
        doIt={async () => {
          if (theirs && merged !== undefined) onTakeOver(theirs, merged)
        }}
      >
        <div class="notice">
          <Icon name="warn" />
          <p>{t.inBetweenNote}</p>
        </div>
        <Loaded reading={saves} lines={2}>
          {(all) => (
            <ul>
              {all
                .filter(({ version }) => version > basis.version)
                .map(({ version, saved_by: by, saved_at: at }) => (
                  <li key={version}>
                    {t.savedBy(version, by)} <When at={at} />
                  </li>
                ))}
            </ul>
          )}
        </Loaded>
        <Loaded reading={{ ...newest, data: theirs }} lines={4}>
          {(data) => <TheirChanges shop={shop} basis={basis} theirs={data} merged={merged!} />}
        </Loaded>
      </ActForm>
    </Dialog>
  )
}

function TheirChanges({
  shop,
  basis,
  theirs,
  merged,
}: {
  shop: string
  basis: Basis
  theirs: Basis
  merged: Json
}) {
  const differences = useCall(
    'configurations.diff',
    // Before the first save there is nothing to compare it with.
    basis.version === 0 ? null : { subscriber: shop, from: basis.version, to: theirs.version },
  )
  if (basis.version === 0) return null
  return (
    <Loaded reading={differences} lines={4}>
      {(changes) => {
        const replaced = replacedBy(
          merged,
          theirs.configuration as Json,
          changes.map(({ path }) => path),
        )
        return (
          <DifferenceTable
            label={t.theirChanges}
            differences={changes}
            more={[
              {
                head: t.takenOver,
                cell: ({ path }: Difference) =>
                  replaced.has(path) ? (
                    <Badge tone="warn">{t.mineStays}</Badge>
                  ) : (
                    <Badge tone="good">{t.theirsStays}</Badge>
                  ),
              },
            ]}
          />
        )
      }}
    </Loaded>
  )
}
