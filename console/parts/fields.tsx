/** Fields of forms: a label, what helps, and the fault at its place. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  help?: ComponentChildren
  fault?: string | undefined
  /** Read aloud, not seen: the place says what it is. */
  isPlain?: boolean
}

/** Names what stands in the field, for who sees it and for who hears it. */
export function Field({
  label,
  help,
  fault,
  isPlain = false,
  children,
}: FieldProps & {
  children: (ids: {
    id: string
    'aria-describedby': string | undefined
    'aria-invalid': boolean | undefined
  }) => ComponentChildren
}) {
  const id = useId()
  const described = [help && `${id}-help`, fault && `${id}-fault`].filter(Boolean).join(' ')
  return (
    <div class={`field ${fault ? 'wrong' : ''}`}>
      <label for={id} class={isPlain ? 'unseen' : undefined}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': fault ? true : undefined,
      })}
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {fault && (
        <p class="wrong-note" id={`${id}-fault`}>
          {fault}
        </p>
      )}
    </div>
  )
}

export interface TextFieldProps extends FieldProps {
  value: string
  onInput: (text: string) => void
  type?: 'text' | 'password' | 'email' | 'number' | 'date' | 'search' | 'url'
  placeholder?: string
  autocomplete?: string
  required?: boolean
  /** `/` goes here. */
  isSearch?: boolean
  isFirst?: boolean
  readOnly?: boolean
}

export function TextField({
  value,
  onInput,
  type = 'text',
  placeholder,
  autocomplete = 'off',
  required,
  isSearch = false,
  isFirst = false,
  readOnly,
  ...field
}: TextFieldProps) {
  // Roles are told by the type, one union for each; none of them matters here.
  const typed = { type } as { type: 'text' }
  return (
    <Field {...field}>
      {(ids) => (
        <input
          {...ids}
          {...typed}
          value={value}
          placeholder={placeholder}
          autocomplete={autocomplete}
          required={required}
          readOnly={readOnly}
          spellcheck={false}
          data-search={isSearch ? '' : undefined}
          ref={isFirst ? focusOnce : undefined}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Of a dialog's first field; a dialog that opens is where the person wants to write. */
function focusOnce(element: HTMLElement | null): void {
  if (element && !element.dataset['focused']) {
    element.dataset['focused'] = 'yes'
    window.requestAnimationFrame(() => element.focus())
  }
}

export function TextArea({
  value,
  onInput,
  rows = 4,
  isCode = false,
  ...field
}: FieldProps & {
  value: string
  onInput: (text: string) => void
  rows?: number
  isCode?: boolean
}) {
  return (
    <Field {...field}>
      {(ids) => (
        <textarea
          {...ids}
          rows={rows}
          class={isCode ? 'code' : undefined}
          spellcheck={!isCode}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export type Option = string | readonly [value: string, label: string]

export function Select({
  value,
  options,
  onChange,
  ...field
}: FieldProps & {
  value: string
  options: readonly Option[]
  onChange: (value: string) => void
}) {
  return (
    <Field {...field}>
      {(ids) => (
        <select {...ids} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {options.map((option) => {
            const [own, label] = typeof option === 'string' ? [option, option] : option
            return (
              <option key={own} value={own} selected={own === value}>
                {label}
              </option>
            )
          })}
        </select>
      )}
    </Field>
  )
}

export function Check({
  label,
  isOn,
  onChange,
  help,
}: {
  label: string
  isOn: boolean
  onChange: (isOn: boolean) => void
  help?: string
}) {
  const id = useId()
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={isOn}
        aria-describedby={help && `${id}-help`}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {help && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  )
}

export function FileField({
  onFile,
  accept,
  ...field
}: FieldProps & { onFile: (file: File | null) => void; accept?: string }) {
  return (
    <Field {...field}>
      {(ids) => (
        <input
          {...ids}
          type="file"
          accept={accept}
          onChange={(event) => onFile(event.currentTarget.files?.[0] ?? null)}
        />
      )}
    </Field>
  )
}
