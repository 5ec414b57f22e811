/** A form made from the schema: what is set, what may be added, and each fault at its place. */
import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import { soundsSecret } from '../../../lib/configuration/secret-names.js'
import type { Fault } from '../../core/call.js'
import { words } from '../../core/format.js'
import { place } from '../../core/router.js'
import { Button } from '../../parts/basics.js'
import { Check, Select, TextArea, TextField } from '../../parts/fields.js'
import { texts } from '../../texts.js'
import { MASK, beginning, isRecord, pointerOf, resolved } from './schema.js'
import type { Json, Schema } from './schema.js'

const t = texts.configuration

export interface FormProps {
  schema: Schema
  root: Schema
  value: Json | undefined
  steps: readonly string[]
  faults: readonly Fault[]
  onChange: (steps: readonly string[], value: Json | undefined) => void
  isRequired?: boolean
}

/** One place of the document, whatever the schema says it is. */
export function Form(props: FormProps) {
  const schema = resolved(props.schema, props.root)
  const own = { ...props, schema }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (schema.properties || schema.patternProperties || type === 'object')
    return <ObjectForm {...own} />
  if (type === 'array') return <ListForm {...own} />
  return <ScalarField {...own} type={type ?? 'string'} />
}

const faultAt = ({ faults, steps }: Pick<FormProps, 'faults' | 'steps'>) => {
  const pointer = pointerOf(steps)
  return faults.find(({ path }) => path === pointer)?.message
}

const nameOf = (steps: readonly string[]) => words(steps.at(-1) ?? '')

function ScalarField(props: FormProps & { type: string }) {
  const { schema, value, steps, onChange, type } = props
  const set = (next: Json | undefined) => onChange(steps, next)
  const name = steps.at(-1) ?? ''
  const shared = { label: nameOf(steps), help: schema.description, fault: faultAt(props) }
  if (type === 'boolean')
    return <Check label={shared.label} help={shared.help} isOn={value === true} onChange={set} />
  if (schema.enum)
    return (
      <Select
        {...shared}
        value={value === undefined ? '' : String(value)}
        options={[
          ...(props.isRequired ? [] : [['', t.notSet] as const]),
          ...schema.enum.map((one) => String(one)),
        ]}
        onChange={(text) => set(text === '' ? undefined : text)}
      />
    )
  if (type === 'integer' || type === 'number')
    return (
      <TextField
        {...shared}
        type="number"
        value={value === undefined ? '' : String(value)}
        onInput={(text) => set(text === '' ? undefined : Number(text))}
      />
    )
  if (value === MASK || soundsSecret(name)) return <SecretField {...props} />
  return (
    <TextField
      {...shared}
      value={value === undefined ? '' : String(value)}
      onInput={(text) => set(text === '' && !props.isRequired ? undefined : text)}
    />
  )
}

/** Typed once, and never shown: what is kept is said, and replaced by what is written. */
function SecretField(props: FormProps) {
  const { schema, value, steps, onChange } = props
  const isKept = value === MASK
  return (
    <TextField
      label={nameOf(steps)}
      help={isKept ? t.secretKept : schema.description}
      fault={faultAt(props)}
      type="password"
      autocomplete="new-password"
      placeholder={isKept ? MASK : undefined}
      value={isKept || value === undefined ? '' : String(value)}
      onInput={(text) => onChange(steps, text === '' ? (isKept ? MASK : '') : text)}
    />
  )
}

const isNested = (schema: Schema, root: Schema) => {
  const { type, properties, patternProperties, items } = resolved(schema, root)
  const inner = items && resolved(items, root)
  return (
    type === 'object' ||
    properties !== undefined ||
    patternProperties !== undefined ||
    (type === 'array' && (inner?.type === 'object' || inner?.properties !== undefined))
  )
}

function ObjectForm(props: FormProps) {
  const { schema, root, value, steps, faults, onChange } = props
  const record = isRecord(value) ? value : {}
  const known = Object.entries(schema.properties ?? {})
  const pattern = Object.values(schema.patternProperties ?? {})[0]
  const named = pattern
    ? Object.keys(record)
        .filter((name) => !Object.hasOwn(schema.properties ?? {}, name))
        .map((name): [string, Schema] => [name, pattern])
    : []
  const members = [...known, ...named]
  const plain = members.filter(([, member]) => !isNested(member, root))
  const nested = members.filter(
    ([name, member]) => isNested(member, root) && record[name] !== undefined,
  )
  const absent = known.filter(
    ([name, member]) => isNested(member, root) && record[name] === undefined,
  )
  const formOf = ([name, member]: [string, Schema]) => (
    <Form
      key={name}
      schema={member}
      root={root}
      value={record[name]}
      steps={[...steps, name]}
      faults={faults}
      onChange={onChange}
      isRequired={schema.required?.includes(name) ?? false}
    />
  )
  return (
    <div class="form">
      <OwnFault {...props} />
      {plain.length > 0 && (
        <div class="form-grid">{plain.filter(([name]) => name !== 'distid').map(formOf)}</div>
      )}
      {nested.map(([name, member]) => (
        <Nested
          key={name}
          name={name}
          pointer={pointerOf([...steps, name])}
          description={resolved(member, root).description}
          faults={faults}
          onRemove={
            schema.required?.includes(name)
              ? undefined
              : () => onChange([...steps, name], undefined)
          }
        >
          {formOf([name, member])}
        </Nested>
      ))}
      {(absent.length > 0 || pattern) && (
        <div class="actions">
          {absent.map(([name, member]) => (
            <Button
              key={name}
              onClick={() => onChange([...steps, name], beginning(member, root))}
              label={t.add(words(name))}
            >
              + {words(name)}
            </Button>
          ))}
          {pattern && (
            <AddNamed onAdd={(name) => onChange([...steps, name], beginning(pattern, root))} />
          )}
        </div>
      )}
    </div>
  )
}

/** A fault of the object itself: a member that it lacks. */
function OwnFault(props: FormProps) {
  const fault = faultAt(props)
  return fault ? <p class="wrong-note">{fault}</p> : null
}

function Nested({
  name,
  pointer,
  description,
  faults,
  onRemove,
  children,
}: {
  name: string
  pointer: string
  description: string | undefined
  faults: readonly Fault[]
  onRemove: (() => void) | undefined
  children: ComponentChildren
}) {
  const wrong = faults.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`))
  const { at = '' } = place.value.query
  const isAsked = at === pointer || at.startsWith(`${pointer}/`)
  return (
    <details class="nested" open={wrong.length > 0 || isAsked || undefined}>
      <summary>
        <span class="strong">{words(name)}</span>
        {wrong.length > 0 ? (
          <span class="wrong-note">{t.faults(wrong.length)}</span>
        ) : (
          <span class="quiet">{description}</span>
        )}
      </summary>
      <div class="body form">
        {children}
        {onRemove && (
          <div class="actions">
            <Button kind="quiet" onClick={onRemove}>
              {t.remove(words(name))}
            </Button>
          </div>
        )}
      </div>
    </details>
  )
}

function AddNamed({ onAdd }: { onAdd: (name: string) => void }) {
  const [name, setName] = useState('')
  const id = useId()
  return (
    <span class="row">
      <label for={id} class="unseen">
        {t.newName}
      </label>
      <input
        id={id}
        class="short"
        value={name}
        placeholder={t.newName}
        onInput={(event) => setName(event.currentTarget.value)}
      />
      <Button
        disabled={!/^[a-zA-Z]+$/.test(name)}
        onClick={() => {
          onAdd(name)
          setName('')
        }}
      >
        {t.addNamed}
      </Button>
    </span>
  )
}

function ListForm(props: FormProps) {
  const { schema, root, value, steps, faults, onChange } = props
  const items = resolved(schema.items ?? {}, root)
  const list = Array.isArray(value) ? value : []
  if (!isNested({ type: 'array', items: schema.items }, root))
    return (
      <TextArea
        label={nameOf(steps)}
        help={[schema.description, t.onePerLine].filter(Boolean).join('; ')}
        fault={
          faultAt(props) ??
          faults.find(({ path }) => path.startsWith(`${pointerOf(steps)}/`))?.message
        }
        rows={Math.min(8, Math.max(2, list.length + 1))}
        value={list.map(String).join('\n')}
        onInput={(text) => onChange(steps, linesOf(text, items))}
      />
    )
  return (
    <div class="form">
      <OwnFault {...props} />
      {list.map((item, at) => (
        <fieldset key={at} class="item">
          <legend>
            {t.entry(at + 1)}{' '}
            <Button
              kind="quiet"
              onClick={() => onChange([...steps, String(at)], undefined)}
              label={t.remove(t.entry(at + 1))}
            >
              {texts.words.remove}
            </Button>
          </legend>
          <Form
            schema={items}
            root={root}
            value={item}
            steps={[...steps, String(at)]}
            faults={faults}
            onChange={onChange}
          />
        </fieldset>
      ))}
      <div class="actions">
        <Button onClick={() => onChange(steps, [...list, beginning(items, root)])}>
          {t.addEntry}
        </Button>
      </div>
    </div>
  )
}

/** One entry for each line; an empty text is no member. */
function linesOf(text: string, items: Schema): Json[] | undefined {
  if (text === '') return undefined
  const isNumber = items.type === 'number' || items.type === 'integer'
  return text.split('\n').map((line) => (isNumber && line !== '' ? Number(line) : line))
}
