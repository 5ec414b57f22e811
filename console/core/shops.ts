/** The shops of this installation, and the one that is looked at. */
import { chosenShop } from './settings.js'
import { useCall } from './use-call.js'

export interface Shop {
  id: string
  name: string
}

/** `shop` is undefined until it is known, and null where there is none yet. */
export function useShops(): { shops: readonly Shop[]; shop: string | null | undefined } {
  const { data } = useCall('subscribers.list', {})
  if (!data) return { shops: [], shop: undefined }
  const chosen = data.find(({ name }) => name === chosenShop.value) ?? data[0]
  return { shops: data, shop: chosen?.name ?? null }
}
