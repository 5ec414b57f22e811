/** What options of several commands say. */
import { CLASS_CODES } from '../../../../lib/distributors/product-classes.js'
import type { ProductClass } from '../../../../lib/distributors/product-classes.js'
import { stateCode } from '../../../../lib/places/states.js'
import type { StateCode } from '../../../../lib/places/states.js'
import type { App } from '../../../../lib/app/open.js'
import { UsageError } from '../../command.js'

export function classOf(text: string): ProductClass {
  const code = CLASS_CODES.find((known) => known === text.trim().toUpperCase())
  if (!code)
    throw new UsageError(
      `--class "${text}" is not a product class; known are ${CLASS_CODES.join(', ')}`,
    )
  return code
}

export function stateOf(text: string): StateCode {
  const code = stateCode(text)
  if (!code) throw new UsageError(`--state "${text}" is not a state; write its two letters`)
  return code
}

export async function subscriberOf(app: App, name: string | undefined): Promise<string> {
  if (name !== undefined) return name
  const shops = await app.operator.subscribers.list()
  const [shop, ...others] = shops
  if (!shop || others.length > 0)
    throw new UsageError(
      shops.length === 0
        ? 'there is no subscriber yet; `subscribers create` makes one'
        : `--subscriber is missing: ${shops.map((shop) => shop.name).join(', ')}`,
    )
  return shop.id
}
