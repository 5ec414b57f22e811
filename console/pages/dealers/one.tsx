/** One dealer: license, expiry, documents, marks. */
import { useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { call, upload } from '../../core/call.js'
import { money } from '../../core/format.js'
import { linkTo } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { useCall } from '../../core/use-call.js'
import { Badge, Button, Facts, PageHead, Section, When } from '../../parts/basics.js'
import { ActForm, Dialog } from '../../parts/dialog.js'
import { Check, FileField, TextField } from '../../parts/fields.js'
import { Loaded } from '../../parts/states.js'
import { act, tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.dealers
type Dealer = Output<'ffls.show'>
const KINDS = ['ffl', 'sot'] as const

export function OneDealer({ license }: { license: string }) {
  const reading = useCall('ffls.show', { license })
  const [isChanging, setChanging] = useState(false)
  const dealer = reading.data
  return (
    <>
      <PageHead
        title={dealer ? (dealer.business_name ?? dealer.license_name) : license}
        question={<code>{license}</code>}
        back={{ href: linkTo(['dealers']), label: texts.pages.dealers }}
        actions={!isViewer.value && <Button onClick={() => setChanging(true)}>{t.change}</Button>}
      />
      <Loaded reading={reading} lines={10}>
        {(one) => (
          <>
            <Section
              title={t.license}
              aside={
                <>
                  <Badge tone={one.active ? 'good' : 'bad'}>{one.active ? t.valid : t.ended}</Badge>
                  {one.marked_on_file && <Badge tone="accent">{t.onFile}</Badge>}
                  {one.sot_on_file && <Badge tone="accent">SOT</Badge>}
                </>
              }
            >
              <Facts facts={factsOf(one)} />
            </Section>
            <Documents dealer={one} onChange={reading.reload} />
            {isChanging && (
              <ChangeDealer
                dealer={one}
                onClose={() => setChanging(false)}
                onDone={async () => {
                  setChanging(false)
                  await reading.reload()
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  )
}

const joined = (...parts: (string | null)[]) => parts.filter(Boolean).join(', ') || '–'

const factsOf = (one: Dealer) =>
  [
    [t.type, one.license_type],
    [t.expires, <When at={one.expires_on} />],
    ...(one.valid_until ? ([[t.extended, <When at={one.valid_until} />]] as const) : []),
    [t.holder, one.license_name],
    [
      t.premise,
      joined(one.premise_street, one.premise_city, `${one.premise_state} ${one.premise_zip}`),
    ],
    [t.mail, joined(one.mail_street, one.mail_city, one.mail_state, one.mail_zip)],
    [t.phone, one.voice_phone ?? '–'],
    [t.email, one.email ?? '–'],
    [t.feeLong, money(one.fee_longgun)],
    [t.feeHand, money(one.fee_handgun)],
    [t.residential, one.residential ? texts.words.yes : texts.words.no],
    [t.contact, one.contact_required ? texts.words.yes : texts.words.no],
    [t.onFileWith, one.on_file_with.join(', ') || texts.words.none],
    [t.source, t.sources[one.source]],
  ] as const

function Documents({ dealer, onChange }: { dealer: Dealer; onChange: () => Promise<void> }) {
  const { license_number: license } = dealer
  return (
    <Section title={t.documents} note={t.documentsNote}>
      <ul class="list">
        {KINDS.map((kind) => (
          <OneDocument
            key={kind}
            kind={kind}
            license={license}
            isThere={dealer.documents.includes(kind)}
            onChange={onChange}
          />
        ))}
      </ul>
    </Section>
  )
}

function OneDocument({
  kind,
  license,
  isThere,
  onChange,
}: {
  kind: (typeof KINDS)[number]
  license: string
  isThere: boolean
  onChange: () => Promise<void>
}) {
  const view = () =>
    act(async () => {
      const { url } = await call('ffls.document', { license, kind })
      window.open(url, '_blank', 'noreferrer')
    })
  const remove = () =>
    act(async () => {
      await call('ffls.removeDocument', { license, kind })
      await onChange()
      return t.removed
    })
  const store = (file: File | null) =>
    act(async () => {
      if (!file) return undefined
      await call('ffls.storeDocument', { license, kind, upload: await upload(file) })
      await onChange()
      return t.stored
    })
  return (
    <li>
      <span class="grow strong">{t.kinds[kind]}</span>
      <Badge tone={isThere ? 'good' : 'calm'}>{isThere ? t.there : t.notThere}</Badge>
      {isThere && <Button onClick={view}>{t.view}</Button>}
      {!isViewer.value && isThere && (
        <Button kind="quiet" onClick={remove}>
          {texts.words.remove}
        </Button>
      )}
      {!isViewer.value && (
        <FileField
          label={t.upload(t.kinds[kind])}
          isPlain
          accept=".pdf,.png,.jpg,.jpeg"
          onFile={store}
        />
      )}
    </li>
  )
}

function ChangeDealer({
  dealer,
  onClose,
  onDone,
}: {
  dealer: Dealer
  onClose: () => void
  onDone: () => Promise<void>
}) {
  const [fields, setFields] = useState({
    fee_longgun: String(dealer.fee_longgun ?? ''),
    fee_handgun: String(dealer.fee_handgun ?? ''),
    email: dealer.email ?? '',
    phone: dealer.own_phone ? (dealer.voice_phone ?? '') : '',
    valid_until: dealer.valid_until ?? '',
    reason: '',
  })
  const [marks, setMarks] = useState({
    residential: dealer.residential,
    contact_required: dealer.contact_required,
    on_file: dealer.marked_on_file,
    sot: dealer.sot_on_file,
  })
  const field = (
    name: keyof typeof fields,
    label: string,
    type: 'text' | 'number' | 'date' = 'text',
  ) => (
    <TextField
      label={label}
      type={type}
      value={fields[name]}
      onInput={(value) => setFields({ ...fields, [name]: value })}
    />
  )
  const mark = (name: keyof typeof marks, label: string) => (
    <Check label={label} isOn={marks[name]} onChange={(on) => setMarks({ ...marks, [name]: on })} />
  )
  const numberOf = (text: string) => (text === '' ? null : Number(text))
  return (
    <Dialog title={t.change} onClose={onClose}>
      <ActForm
        act={texts.words.save}
        onCancel={onClose}
        doIt={async () => {
          await call('ffls.set', {
            license: dealer.license_number,
            fee_longgun: numberOf(fields.fee_longgun),
            fee_handgun: numberOf(fields.fee_handgun),
            ...(fields.email !== (dealer.email ?? '') && { email: fields.email || null }),
            ...(fields.phone && { phone: fields.phone }),
            ...(fields.valid_until !== (dealer.valid_until ?? '') && {
              valid_until: fields.valid_until || null,
            }),
            ...(fields.reason && { reason: fields.reason }),
            ...changedMarks(dealer, marks),
          })
          tell(t.saved)
          await onDone()
        }}
      >
        <div class="form-grid">
          {field('fee_longgun', t.feeLong, 'number')}
          {field('fee_handgun', t.feeHand, 'number')}
          {field('email', t.email)}
          {field('phone', t.phone)}
          {field('valid_until', t.extended, 'date')}
          {field('reason', texts.words.reason)}
        </div>
        {mark('on_file', t.markOnFile)}
        {mark('sot', t.markSot)}
        {mark('residential', t.residential)}
        {mark('contact_required', t.contact)}
      </ActForm>
    </Dialog>
  )
}

function changedMarks(
  dealer: Dealer,
  marks: { residential: boolean; contact_required: boolean; on_file: boolean; sot: boolean },
) {
  const before = {
    residential: dealer.residential,
    contact_required: dealer.contact_required,
    on_file: dealer.marked_on_file,
    sot: dealer.sot_on_file,
  }
  return Object.fromEntries(
    Object.entries(marks).filter(([name, on]) => on !== before[name as keyof typeof before]),
  )
}
