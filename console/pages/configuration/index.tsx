/** Configuration: the document as a form and as JSON, what it leads to, and its history. */
import { useState } from 'preact/hooks'
import { linkTo, place } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { useCall, useShop } from '../../core/use-call.js'
import { PageHead, Tabs } from '../../parts/basics.js'
import { Empty, FaultNote, Waiting } from '../../parts/states.js'
import { texts } from '../../texts.js'
import { Editor } from './editor.js'
import { History } from './history.js'
import type { Schema } from './schema.js'

const t = texts.configuration

export function Configuration() {
  const [, view = 'document'] = place.value.path
  const { shop } = useShops()
  return (
    <>
      <PageHead title={texts.pages.configuration} question={t.question} />
      <Tabs
        label={texts.pages.configuration}
        tabs={[
          {
            href: linkTo(['configuration']),
            label: t.document,
            isCurrent: view === 'document',
          },
          {
            href: linkTo(['configuration', 'history']),
            label: t.history,
            isCurrent: view === 'history',
          },
        ]}
      />
      {shop === null && <Empty title={texts.orders.noShop}>{t.noShop}</Empty>}
      {shop === undefined && <Waiting lines={8} />}
      {shop && (view === 'history' ? <History shop={shop} /> : <Document key={shop} shop={shop} />)}
    </>
  )
}

function Document({ shop }: { shop: string }) {
  const saved = useCall('configurations.read', { subscriber: shop })
  const schema = useShop('config.schema', { subscriber: shop })
  const registry = useShop('distributors', { subscriber: shop })
  /** Own ones: after each, the editor begins anew with what was saved. */
  const [saves, setSaves] = useState(0)
  if (!saved.data || !schema.data || !registry.data) {
    const failed = [saved, schema, registry].find(({ error }) => error)
    return failed?.error ? (
      <FaultNote error={failed.error} onRetry={failed.reload} />
    ) : (
      <Waiting lines={12} />
    )
  }
  return (
    <Editor
      key={saves}
      shop={shop}
      saved={saved.data}
      schema={schema.data as Schema}
      templates={Object.fromEntries(
        Object.entries(registry.data).map(([name, entry]) => [name, entry.default_config]),
      )}
      onSaved={async () => {
        await saved.reload()
        setSaves(saves + 1)
      }}
    />
  )
}
