/** What the palette offers to do, beside going to a page. */
import { linkTo } from '../core/router.js'

export const ACTIONS = [
  { key: 'ordersInReview', page: 'orders', to: linkTo(['orders'], { show: 'review' }) },
  { key: 'preflight', page: 'orders', to: linkTo(['orders', 'preflight']) },
  { key: 'uploadFeed', page: 'feeds', to: linkTo(['feeds', 'first']) },
  { key: 'testRestriction', page: 'restrictions', to: linkTo(['restrictions']) },
  { key: 'createKey', page: 'accounts', to: linkTo(['accounts'], { make: 'key' }) },
  { key: 'addSubscriber', page: 'accounts', to: linkTo(['accounts'], { make: 'shop' }) },
  { key: 'backup', page: 'operating', to: linkTo(['operating', 'backups']) },
  { key: 'doctor', page: 'operating', to: linkTo(['operating', 'doctor']) },
  { key: 'log', page: 'operating', to: linkTo(['operating', 'log']) },
] as const
