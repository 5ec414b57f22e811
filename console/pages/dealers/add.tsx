/** A dealer that no list has. */
import { useState } from 'preact/hooks'
import { call } from '../../core/call.js'
import { go, linkTo } from '../../core/router.js'
import { Section } from '../../parts/basics.js'
import { ActForm } from '../../parts/dialog.js'
import { TextField } from '../../parts/fields.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'

const t = texts.dealers
const FIELDS = [
  'license_number',
  'name',
  'street',
  'city',
  'state',
  'zip',
  'phone',
  'email',
  'reason',
] as const
const OPTIONAL = new Set(['phone', 'email'])

export function AddDealer() {
  const [fields, setFields] = useState(
    Object.fromEntries(FIELDS.map((name) => [name, ''])) as Record<(typeof FIELDS)[number], string>,
  )
  const { phone, email, ...needed } = fields
  return (
    <Section title={t.add} note={t.addNote}>
      <div class="body">
        <ActForm
          act={t.add}
          isReady={Object.values(needed).every((value) => value.trim() !== '')}
          doIt={async () => {
            const dealer = await call('ffls.add', {
              ...needed,
              ...(phone && { phone }),
              ...(email && { email }),
            })
            tell(t.added)
            go(linkTo(['dealers', dealer.license_number]))
          }}
        >
          <div class="form-grid">
            {FIELDS.map((name) => (
              <TextField
                key={name}
                label={t.fields[name]}
                value={fields[name]}
                required={!OPTIONAL.has(name)}
                onInput={(value) => setFields({ ...fields, [name]: value })}
              />
            ))}
          </div>
        </ActForm>
      </div>
    </Section>
  )
}
