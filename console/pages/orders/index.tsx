/** Orders: the list, one order, and an order that is only tried. */
import { place } from '../../core/router.js'
import { OneOrder } from './one.js'
import { OrderList } from './list.js'
import { PreflightPage } from './preflight.js'

export function Orders() {
  const [, what] = place.value.path
  if (what === undefined) return <OrderList />
  return what === 'preflight' ? <PreflightPage /> : <OneOrder order={what} />
}
