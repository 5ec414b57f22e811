/** The pages, by the first part of their address. */
import type { FunctionComponent } from 'preact'
import type { PageName } from '../core/keys.js'
import { linkTo } from '../core/router.js'
import { PageHead } from '../parts/basics.js'
import { Empty } from '../parts/states.js'
import { texts } from '../texts.js'
import { Accounts } from './accounts/index.js'
import { Analytics } from './analytics/index.js'
import { Catalog } from './catalog/index.js'
import { Configuration } from './configuration/index.js'
import { Dealers } from './dealers/index.js'
import { Distributors } from './distributors/index.js'
import { Feeds } from './feeds/index.js'
import { Fraud } from './fraud/index.js'
import { Operating } from './operating/index.js'
import { Orders } from './orders/index.js'
import { Restrictions } from './restrictions/index.js'
import { Today } from './today/index.js'

const PAGES: Record<PageName, FunctionComponent> = {
  today: Today,
  orders: Orders,
  catalog: Catalog,
  configuration: Configuration,
  feeds: Feeds,
  distributors: Distributors,
  accounts: Accounts,
  analytics: Analytics,
  dealers: Dealers,
  fraud: Fraud,
  restrictions: Restrictions,
  operating: Operating,
}

export function pageOf(name: string): { title: string; Page: FunctionComponent } {
  const Page = Object.hasOwn(PAGES, name) ? PAGES[name as PageName] : undefined
  return Page
    ? { title: texts.pages[name as PageName], Page }
    : { title: texts.nowhere.title, Page: Nowhere }
}

function Nowhere() {
  return (
    <>
      <PageHead title={texts.nowhere.title} />
      <Empty title={texts.nowhere.what}>
        <a href={linkTo(['today'])}>{texts.nowhere.home}</a>
      </Empty>
    </>
  )
}
