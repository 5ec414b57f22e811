/** What saving would do to the live catalog, before it is done. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { CallError, call } from '../../core/call.js'
import { count, money, percent } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { useCall } from '../../core/use-call.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Check } from '../../parts/fields.js'
import { Icon } from '../../parts/icons.js'
import { Loaded } from '../../parts/states.js'
import { Table } from '../../parts/table.js'
import { texts } from '../../texts.js'
import { SavedInBetween } from './in-between.js'
import type { Basis } from './in-between.js'
import type { Json } from './schema.js'

const t = texts.configuration
type Changes = Output<'configurations.changes'>

export function SaveDialog({
  shop,
  document,
  basis,
  onClose,
  onDone,
  onTakeOver,
}: {
  shop: string
  document: Json
  basis: Basis
  onClose: () => void
  onTakeOver: (theirs: Basis, merged: Json) => void
  onDone: (version: number) => Promise<void>
}) {
  const [isSure, setSure] = useState(false)
  const [isStale, setStale] = useState(false)
  const preview = useCall('configurations.preview', { subscriber: shop, document })
  const changes = useCall('configurations.changes', { subscriber: shop, document })
  const impact = preview.data?.impact
  const isMuch = impact !== undefined && impact.deleted_percent > impact.threshold_percent
  async function save() {
    try {
      const { version } = await call('configurations.put', {
        subscriber: shop,
        document,
        if_match: basis.etag,
      })
      await onDone(version)
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== 'precondition_failed') throw error
      setStale(true)
    }
  }
  if (isStale)
    return (
      <SavedInBetween
        shop={shop}
        basis={basis}
        mine={document}
        onClose={onClose}
        onTakeOver={onTakeOver}
      />
    )
  return (
    <Dialog title={t.saveTitle} onClose={onClose} isWide>
      <ActForm
        act={t.saveNow}
        kind={isMuch ? 'danger' : 'primary'}
        onCancel={onClose}
        isReady={impact !== undefined && (!isMuch || isSure)}
        doIt={save}
      >
        <Loaded reading={preview} lines={2}>
          {({ checking }) => (
            <>
              {isMuch && (
                <div class="notice">
                  <Icon name="warn" />
                  <p>
                    {t.muchGone(
                      percent(impact!.deleted_percent),
                      percent(impact!.threshold_percent),
                    )}
                  </p>
                </div>
              )}
              {checking.length > 0 && <p class="quiet">{t.checking(checking.join(', '))}</p>}
            </>
          )}
        </Loaded>
        {!preview.error && (
          <Loaded reading={changes} lines={8}>
            {(data) => <ImpactTables changes={data} />}
          </Loaded>
        )}
        {isMuch && <Check label={t.sure} isOn={isSure} onChange={setSure} />}
      </ActForm>
    </Dialog>
  )
}

export function ImpactTables({ changes }: { changes: Changes }) {
  if (changes.before === 0 && changes.after === 0) return <p class="quiet">{t.noOffers}</p>
  const rows = [
    ...changes.by_distributor,
    { distid: t.together, before: changes.before, after: changes.after },
  ]
  return (
    <>
      <Table
        label={t.impact}
        rows={rows}
        keyOf={({ distid }) => distid}
        columns={[
          { head: texts.words.distributor, cell: ({ distid }) => distid },
          { head: t.before, cell: ({ before }) => count(before), isNumber: true },
          { head: t.after, cell: ({ after }) => count(after), isNumber: true },
          {
            head: t.difference,
            cell: ({ before, after }) => signed(after - before),
            isNumber: true,
          },
        ]}
      />
      <div class="columns">
        <Named title={t.vanish(changes.vanishing)} offers={changes.vanish} />
        <Named title={t.appear(changes.appearing)} offers={changes.appear} />
      </div>
    </>
  )
}

const signed = (difference: number) =>
  difference === 0 ? '0' : `${difference > 0 ? '+' : '−'}${count(Math.abs(difference))}`

function Named({ title, offers }: { title: string; offers: Changes['vanish'] }) {
  return (
    <div class="stack tight">
      <h3>{title}</h3>
      <Table
        label={title}
        rows={offers}
        keyOf={({ distid, stockid }) => `${distid} ${stockid}`}
        empty={<p class="quiet">{texts.words.none}</p>}
        columns={[
          {
            head: texts.catalog.item,
            cell: ({ name, upc }) => (upc ? <a href={linkTo(['catalog', upc])}>{name}</a> : name),
          },
          { head: texts.words.distributor, cell: ({ distid }) => distid },
          {
            head: texts.catalog.price,
            cell: ({ unit_price: price }) => money(price),
            isNumber: true,
          },
        ]}
      />
    </div>
  )
}
