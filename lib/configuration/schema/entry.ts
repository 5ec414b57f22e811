/**
 * The schema of one distributor's entry, from its connector's settings (contract "Configuration
 * document").
 */
import type { Distributor, Setting } from '../../distributors/distributor.js'
import { member, text } from './parts.js'
import type { Schema } from './parts.js'

interface Section {
  properties: Record<string, Schema | Section>
  required: Set<string>
  description: string
}

const isSection = (value: Schema | Section): value is Section => value['required'] instanceof Set

/** Members that every entry has, then those of the settings; closed all the way down. */
export function entrySchema(distributor: Distributor): Schema {
  const { distid, name, requiredSections = [] } = distributor
  const entry: Section = {
    description: `the entry of ${name}`,
    required: new Set([
      'active',
      'distid',
      'drop_ship_only_items',
      'shipping',
      'product_restrictions',
    ]),
    properties: {
      active: member('boolean', 'whether its products are served'),
      distid: { ...text(`the distid of ${name}`), enum: [distid] },
      drop_ship_only_items: member('boolean', 'whether only what it ships to customers is listed'),
      shipping: { $ref: '#/definitions/shipping', description: `what shipping from ${name} costs` },
      product_restrictions: {
        $ref: '#/definitions/entry_restrictions',
        description: `which products of ${name} are listed`,
      },
      product_feed: {
        description: `the product feed of ${name}`,
        required: new Set(),
        properties: { active: member('boolean', 'whether the feed is read') },
      },
    },
  }
  for (const setting of Object.values(distributor.settings))
    addSetting(entry, setting, requiredSections)
  // One that takes orders is ordered from where an entry has the section, however little is in it.
  if (distributor.fulfillment)
    entry.properties['fulfillment'] ??= {
      description: 'the fulfillment settings',
      required: new Set<string>(),
      properties: {},
    }
  return toSchema(entry)
}

/**
 * A required setting of a section that the entry must have makes every object on the way to it
 * required.
 */
function addSetting(entry: Section, setting: Setting, requiredSections: readonly string[]): void {
  const path = setting.path.split('-')
  const leaf = path.pop() ?? setting.path
  const isNeeded = setting.required === true && requiredSections.includes(path[0] ?? leaf)
  let section = entry
  for (const name of path) {
    if (isNeeded) section.required.add(name)
    const next = (section.properties[name] ??= {
      description: `the ${name} settings`,
      required: new Set<string>(),
      properties: {},
    })
    if (!isSection(next))
      throw new Error(`the path ${setting.path} leads through a member that is not an object`)
    section = next
  }
  if (isNeeded || setting.required === 'in_object') section.required.add(leaf)
  if (section.properties[leaf]) throw new Error(`two settings share the path ${setting.path}`)
  section.properties[leaf] = settingSchema(setting)
}

function toSchema({ properties, required, description }: Section): Schema {
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, value]) => [
        name,
        isSection(value) ? toSchema(value) : value,
      ]),
    ),
    ...(required.size > 0 && { required: [...required] }),
    additionalProperties: false,
  }
}

function settingSchema({ type, label, form, choices }: Setting): Schema {
  const description = /^[A-Z]{2}/.test(label)
    ? label
    : label.charAt(0).toLowerCase() + label.slice(1)
  if (type === 'array')
    return {
      type: 'array',
      description,
      items: { ...text('a text'), ...(form === 'email' && { format: 'email' }) },
    }
  if (form === 'postal_code') return { $ref: '#/definitions/postal_code', description }
  if (form === 'text_or_number') return member(['string', 'integer'], description)
  if (type === 'state-selector')
    return text(`${description}, two letters`, { pattern: '^[A-Za-z]{2}$' })
  return member(type, description, {
    ...(choices && { enum: choices }),
    ...(form === 'email' && { format: 'email' }),
  })
}
