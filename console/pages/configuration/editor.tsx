/** The document being written: form and JSON follow each other, faults stand where they are. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Output } from '../../core/api.js'
import { CallError, call } from '../../core/call.js'
import type { Fault } from '../../core/call.js'
import { words } from '../../core/format.js'
import { linkTo, place, refine } from '../../core/router.js'
import { isViewer } from '../../core/session.js'
import { Badge, Button, Section } from '../../parts/basics.js'
import { TextArea } from '../../parts/fields.js'
import { Empty } from '../../parts/states.js'
import { tell } from '../../parts/toast.js'
import { texts } from '../../texts.js'
import { pointerSteps } from '../../../lib/core/pointer.js'
import { Form } from './form.js'
import { SaveDialog } from './save.js'
import { isRecord, pointerOf, resolved, valueAt, withValue } from './schema.js'
import { withSecrets, withoutSecrets } from './secrets.js'
import type { Json, Schema } from './schema.js'

const t = texts.configuration

export interface EditorProps {
  shop: string
  saved: Output<'configurations.read'>
  schema: Schema
  /** What an entry of each distributor begins as. */
  templates: Readonly<Record<string, unknown>>
  onSaved: () => Promise<void>
}

const written = (document: Json) => JSON.stringify(document, null, 2)
const shown = (document: Json) => written(withoutSecrets(document))

export function Editor({ shop, saved, schema, templates, onSaved }: EditorProps) {
  /** What the changes are made from. */
  const [basis, setBasis] = useState(saved)
  const before = basis.configuration as Json
  const [document, setDocument] = useState<Json>(before)
  const [text, setText] = useState(() => shown(before))
  const [isJson, setJson] = useState(true)
  const [isSaving, setSaving] = useState(false)
  const faults = useFaults(shop, document)
  const isChanged = written(document) !== written(before)
  const steps = sectionOf(document)
  const isThere =
    steps.length < 2 ||
    !Object.hasOwn(templates, steps[1]!) ||
    valueAt(document, steps) !== undefined
  function begin(from: EditorProps['saved'], next: Json) {
    setBasis(from)
    setDocument(next)
    setText(shown(next))
    setJson(true)
  }
  useEffect(() => {
    // A save by somebody else does not take away what is being written.
    if (!isChanged && isJson) begin(saved, saved.configuration as Json)
  }, [saved.etag])
  function change(at: readonly string[], value: Json | undefined) {
    begin(basis, withValue(document, at, value))
  }
  function add(name: string) {
    // Who adds it wants to see its offers, though the server's template begins inactive.
    const entry = { ...(templates[name] as { [name: string]: Json }), active: true }
    change(['distributors', name], entry)
    // With the section open that holds the credentials.
    refine({ at: pointerOf(['distributors', name, 'fulfillment']) })
  }
  function changeText(next: string) {
    setText(next)
    try {
      setDocument(withSecrets(JSON.parse(next) as Json, document))
      setJson(true)
    } catch {
      setJson(false)
    }
  }
  return (
    <>
      <div class="bar">
        <span class="quiet">{basis.version === 0 ? t.neverSaved : t.version(basis.version)}</span>
        {isChanged && <Badge tone="accent">{t.unsaved}</Badge>}
        {faults.length > 0 && <Badge tone="bad">{t.faults(faults.length)}</Badge>}
        <span class="grow" />
        <Button
          disabled={!isChanged && isJson}
          onClick={() => begin(saved, saved.configuration as Json)}
        >
          {t.discard}
        </Button>
        <Button
          kind="primary"
          disabled={!isChanged || !isJson || isViewer.value}
          onClick={() => setSaving(true)}
        >
          {t.save}
        </Button>
      </div>
      <div class="editor">
        <Sections
          document={document}
          schema={schema}
          templates={templates}
          faults={faults}
          current={steps}
          onAdd={add}
        />
        <Section
          title={steps.length > 1 ? steps[1]! : words(steps[0]!)}
          aside={
            steps.length > 1 &&
            isThere && (
              <Button kind="quiet" onClick={() => change(steps, undefined)}>
                {t.removeDistributor}
              </Button>
            )
          }
        >
          {isThere ? (
            <form class="body" onSubmit={(event) => event.preventDefault()}>
              <Form
                key={pointerOf(steps)}
                schema={schemaAt(schema, steps)}
                root={schema}
                value={valueAt(document, steps)}
                steps={steps}
                faults={faults}
                onChange={change}
              />
            </form>
          ) : (
            <NotThere name={steps[1]!} onAdd={add} />
          )}
        </Section>
        <Section
          title={t.json}
          note={isJson ? undefined : <span class="wrong-note">{t.notJson}</span>}
        >
          <div class="body">
            <TextArea label={t.json} isPlain isCode rows={34} value={text} onInput={changeText} />
          </div>
        </Section>
      </div>
      {isSaving && (
        <SaveDialog
          key={basis.etag}
          shop={shop}
          document={document}
          basis={basis}
          onClose={() => setSaving(false)}
          onTakeOver={begin}
          onDone={async (version) => {
            tell(t.savedAs(version))
            setSaving(false)
            await onSaved()
          }}
        />
      )}
    </>
  )
}

/** A distributor that was led to, before it is added. */
function NotThere({ name, onAdd }: { name: string; onAdd: (name: string) => void }) {
  return (
    <Empty
      title={t.notThere(name)}
      action={
        <Button kind="primary" disabled={isViewer.value} onClick={() => onAdd(name)}>
          {t.addThis(name)}
        </Button>
      }
    >
      {t.notThereMore}
    </Empty>
  )
}

/** How long writing may pause before it is checked, in milliseconds. */
const PAUSE = 400

/** Faults of the document as it is written, by the server's own check. */
function useFaults(shop: string, document: Json): readonly Fault[] {
  const [faults, setFaults] = useState<readonly Fault[]>([])
  useEffect(() => {
    let isOver = false
    const timer = window.setTimeout(async () => {
      try {
        const { errors } = await call('configurations.check', { subscriber: shop, document })
        if (!isOver) setFaults(errors)
      } catch (error) {
        if (!(error instanceof CallError)) throw error
      }
    }, PAUSE)
    return () => {
      isOver = true
      window.clearTimeout(timer)
    }
  }, [shop, document])
  return faults
}

/** The section of the address, which points into it. */
function sectionOf(document: Json): readonly string[] {
  const steps = pointerSteps(place.value.query['at'] ?? '')
  const members = isRecord(document) ? document : {}
  const [first = ''] = Object.keys(isRecord(members['distributors']) ? members['distributors'] : {})
  if (steps[0] === 'distributors' && steps[1] !== undefined) return ['distributors', steps[1]]
  if (steps[0] !== undefined && steps[0] !== 'distributors') return [steps[0]]
  return first === '' ? ['pricing'] : ['distributors', first]
}

function schemaAt(schema: Schema, steps: readonly string[]): Schema {
  return steps.reduce((at: Schema, step) => resolved(at, schema).properties?.[step] ?? {}, schema)
}

function Sections({
  document,
  schema,
  templates,
  faults,
  current,
  onAdd,
}: {
  document: Json
  schema: Schema
  templates: Readonly<Record<string, unknown>>
  faults: readonly Fault[]
  current: readonly string[]
  onAdd: (name: string) => void
}) {
  const entries = valueAt(document, ['distributors'])
  const names = Object.keys(isRecord(entries) ? entries : {})
  const others = Object.keys(schema.properties ?? {}).filter((name) => name !== 'distributors')
  const missing = useMemo(
    () => Object.keys(templates).filter((name) => !names.includes(name)),
    [templates, names.join()],
  )
  const link = (steps: string[], label: string) => {
    const pointer = pointerOf(steps)
    const wrong = faults.filter(({ path }) => path === pointer || path.startsWith(`${pointer}/`))
    return (
      <a
        key={pointer}
        href={linkTo(['configuration'], { at: pointer })}
        aria-current={pointer === pointerOf(current) ? 'true' : undefined}
      >
        {label}
        {wrong.length > 0 && <span class="count warn">{wrong.length}</span>}
      </a>
    )
  }
  return (
    <nav class="sections" aria-label={t.sections}>
      <p class="group">{texts.pages.distributors}</p>
      {names.map((name) => link(['distributors', name], name))}
      {missing.length > 0 && (
        <select
          aria-label={t.addDistributor}
          value=""
          onChange={(event) => onAdd(event.currentTarget.value)}
        >
          <option value="">{t.addDistributor}</option>
          {missing.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      )}
      <p class="group">{t.shared}</p>
      {others.map((name) => link([name], words(name)))}
    </nav>
  )
}
