/** Catalog: the search as a shop sees it, and one item. */
import { place } from '../../core/router.js'
import { useShops } from '../../core/shops.js'
import { PageHead } from '../../parts/basics.js'
import { Empty, Waiting } from '../../parts/states.js'
import { texts } from '../../texts.js'
import { OneItem } from './item.js'
import { CatalogSearch } from './search.js'

export function Catalog() {
  const [, upc] = place.value.path
  const { shop } = useShops()
  if (!shop)
    return (
      <>
        <PageHead title={texts.pages.catalog} question={texts.catalog.question} />
        {shop === null ? (
          <Empty title={texts.orders.noShop}>{texts.catalog.noShop}</Empty>
        ) : (
          <Waiting lines={8} />
        )}
      </>
    )
  return upc === undefined ? <CatalogSearch shop={shop} /> : <OneItem shop={shop} upc={upc} />
}
