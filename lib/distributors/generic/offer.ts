/** From a row of a catalog feed to its offer. */
import { UNCATEGORIZED } from '../feed-offer.js'
import { compileRules, gunNamed, meets } from './classify.js'
import {
  attributesOf,
  flag,
  imagesOf,
  money,
  priceOf,
  quantity,
  stateFlags,
  text,
  upc,
} from './fields.js'
import { markOf } from './marks.js'
import type { CatalogPreset, Field } from './preset.js'
import type { RowReader } from './row-reader.js'
import type { CatalogRow } from './rows.js'

/** A reader for each field that the preset maps. */
function fieldReaders({ map }: CatalogPreset, row: RowReader, at: number) {
  const field = (spec: Field | undefined) => text(spec, row)
  return {
    distsku: field(map.distsku),
    upc: upc(map.upc, row),
    name: field(map.name),
    mfgName: field(map.mfgName),
    mpn: field(map.mpn),
    itemCat: field(map.itemCat),
    productUrl: field(map.productUrl),
    shortDescription: field(map.shortDescription),
    description: field(map.description),
    price: priceOf(map.price, row, at),
    usualPrice: money({ from: map.price.regular ?? map.price.from }, row),
    map: money(map.map, row),
    msrp: money(map.msrp, row),
    shipping: money(map.shipping, row),
    qty: quantity(map.qty, row),
    dropShip: flag(map.dropShip, row),
    images: imagesOf(map.images, row),
  }
}

/** The function that makes the row's offer, by its item number. */
export function compileOffer(
  preset: CatalogPreset,
  row: RowReader,
  at: number,
): (stockid: string) => CatalogRow {
  const read = fieldReaders(preset, row, at)
  const zero = (preset.zeroWhen ?? []).map((condition) => meets(condition, row))
  const attributes = attributesOf(preset, row)
  const flags = stateFlags(preset.stateFlags, row)
  const classify = compileRules(preset.classify, row)
  const namesGun = gunNamed(preset.gunWordsIn ?? [], row)
  return (stockid) => {
    const kind = classify()
    const told = { name: read.name(), map: read.map(), dropShip: read.dropShip() }
    const item = { upc: read.upc(), mpn: read.mpn() || null }
    const held = zero.some((holds) => holds())
    const count = read.qty()
    const usual = read.usualPrice()
    const offer = {
      stockid,
      distsku: read.distsku() || stockid,
      upc: item.upc,
      name: told.name || item.mpn || item.upc || stockid,
      mfgName: read.mfgName() || null,
      mpn: item.mpn,
      productClass: kind?.productClass ?? 'OT',
      itemCat: read.itemCat() || null,
      categoryId: kind?.categoryId ?? null,
      categoryName: kind?.categoryName ?? UNCATEGORIZED,
      price: read.price(),
      // Some feeds fill the column with the dealer's own price, which must not be what a shop
      // publishes.
      map: told.map !== null && usual !== null && told.map <= usual ? null : told.map,
      msrp: read.msrp(),
      shipping: read.shipping(),
      qty: held ? 0 : count,
      held,
      classified: kind !== null,
      fflReq: kind?.fflReq ?? false,
      dropShip:
        kind !== null &&
        kind.mayDropShip &&
        told.dropShip &&
        (kind.fflReq || kind.named || !namesGun()),
      images: read.images(),
      productUrl: read.productUrl() || null,
      shortDescription: read.shortDescription() || null,
      description: read.description() || null,
      attributes: attributes(),
      restrictedStates: flags(),
      mark: 0,
    } satisfies CatalogRow
    offer.mark = markOf(offer, told)
    return offer
  }
}
