/**
 * A distributor as the registry shows it, from its connector's settings (contract "Distributor
 * registry entry").
 */
import type { Distributor, Setting } from './distributor.js'
import type { RegistryEntry } from './shapes.js'

export function registryEntry(distributor: Distributor): RegistryEntry {
  return {
    distid: distributor.distid,
    automated_fulfillment: distributor.automatedFulfillment,
    config_schema: Object.fromEntries(
      Object.entries(distributor.settings).map(
        ([name, { type, label, helperText, path, choices }]) => {
          const help = [helperText, choices && `one of ${choices.join(', ')}`]
            .filter(Boolean)
            .join('; ')
          return [name, { type, label, ...(help !== '' && { helperText: help }), config_key: path }]
        },
      ),
    ),
    default_config: templateOf(distributor),
  }
}

/** An entry that is off, with a blank for each required setting: empty text, or an empty list. */
function templateOf({
  distid,
  name,
  settings,
  templateShipping = 15,
}: Distributor): Record<string, unknown> {
  const shippingClass = `flat_rate_${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')}`
  const entry: Record<string, unknown> = {
    active: false,
    distid,
    drop_ship_only_items: true,
    shipping: { flat_rate: { cost: templateShipping, shipping_class: shippingClass } },
    product_restrictions: { min_quantity_to_list: 1 },
    product_feed: { active: true },
  }
  for (const setting of Object.values(settings))
    if (setting.required === true) place(entry, setting.path.split('-'), blankOf(setting))
  return entry
}

function blankOf({ type, form, choices }: Setting): unknown {
  if (type === 'array') return []
  if (type === 'boolean') return false
  if (type === 'number' && form !== 'text_or_number') return 0
  return choices?.[0] ?? ''
}

function place(entry: Record<string, unknown>, path: string[], value: unknown): void {
  const leaf = path.pop()!
  let at = entry
  for (const name of path) at = (at[name] ??= {}) as Record<string, unknown>
  at[leaf] = value
}
