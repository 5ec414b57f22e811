/** Where a feed is pulled from, and how often. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { distributorOptions, useDistributors } from '../../core/distributors.js'
import { useShops } from '../../core/shops.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Check, Select, TextField } from '../../parts/fields.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.feeds

/** A source's parts, as its id has them: `RSR/rsr`, and a shop's id behind it. */
export function partsOf(source: string): { distid: string; preset?: string; subscriber?: string } {
  const [distid = '', preset, subscriber] = source.split('/')
  return { distid, ...(preset && { preset }), ...(subscriber && { subscriber }) }
}

export function SourceDialog({
  source,
  location = '',
  minutes,
  isPrivate = false,
  onClose,
  onDone,
}: {
  /** Undefined for a new one. */
  source?: string
  location?: string
  minutes?: number | null
  isPrivate?: boolean
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const known = source === undefined ? undefined : partsOf(source)
  const { shops } = useShops()
  const distributors = useDistributors()
  const [distid, setDistid] = useState(known?.distid ?? '')
  const [subscriber, setSubscriber] = useState(known?.subscriber ?? '')
  const [isAccount, setAccount] = useState(location === 'account')
  const [url, setUrl] = useState(location === 'account' ? '' : location)
  const [every, setEvery] = useState(String(minutes ?? 20))
  const [mayBePrivate, setPrivate] = useState(isPrivate)
  const [isActive, setActive] = useState(true)
  return (
    <Dialog title={source ?? t.addSource} onClose={onClose}>
      <ActForm
        act={texts.words.save}
        onCancel={onClose}
        isReady={distid !== '' && (isAccount || url !== '')}
        doIt={async () => {
          const { id } = await call('feeds.set', {
            distid,
            ...(known?.preset && { preset: known.preset }),
            ...(subscriber && { subscriber }),
            location: isAccount ? 'account' : url,
            every_minutes: Number(every),
            active: isActive,
            allow_private: mayBePrivate,
          })
          tell(t.set(id))
          await onDone()
        }}
      >
        {source === undefined && (
          <>
            <Select
              label={texts.words.distributor}
              value={distid}
              options={[['', t.choose], ...distributorOptions(distributors)]}
              onChange={setDistid}
            />
            <Select
              label={t.whose}
              value={subscriber}
              help={t.whoseHelp}
              options={[['', t.forAll], ...shops.map(({ id, name }) => [id, name] as const)]}
              onChange={setSubscriber}
            />
          </>
        )}
        <Check label={t.byAccount} help={t.byAccountHelp} isOn={isAccount} onChange={setAccount} />
        {!isAccount && (
          <TextField label={t.url} type="url" value={url} onInput={setUrl} help={t.urlHelp} />
        )}
        <TextField label={t.minutes} type="number" value={every} onInput={setEvery} />
        <Check label={t.active} isOn={isActive} onChange={setActive} />
        {!isAccount && (
          <Check
            label={t.allowPrivate}
            help={t.allowPrivateHelp}
            isOn={mayBePrivate}
            onChange={setPrivate}
          />
        )}
      </ActForm>
    </Dialog>
  )
}
