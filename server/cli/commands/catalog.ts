import { figure } from '../../../lib/core/figures.js'
import { explainProduct } from '../../../lib/configuration/explain.js'
import type { ExplainedOffer } from '../../../lib/configuration/explain.js'
import { ApiError } from '../../../lib/core/errors.js'
import { argument } from '../command.js'
import type { Command, Invocation } from '../command.js'
import { withApp } from '../with-app.js'
import { SUBSCRIBER, subscriberOf } from './configuration/subscriber.js'
import { printable } from '../faults.js'
import { carriesOut } from '../operation-help.js'
import { configurationOperations } from '../../../lib/configuration/operations.js'

async function explain({ dir, args, values, out }: Invocation): Promise<void> {
  const upc = argument(args, 0)
  await withApp(dir, async (app) => {
    const subscriber = await subscriberOf(app, values)
    const offers = await explainProduct(app.ctx, subscriber, upc)
    if (offers.length === 0)
      throw new ApiError('not_found', { message: `no feed has the UPC ${upc}` })
    const visible = offers.filter((offer) => offer.visible).length
    out.line(
      `${subscriber.name} sees ${visible} of the ` +
        `${offers.length === 1 ? 'one offer' : `${offers.length} offers`} of ${upc}.`,
    )
    for (const offer of offers) out.line(lines(offer).map(printable).join('\n'))
    out.result({ subscriber: subscriber.name, upc, offers })
  })
}

function lines({
  distid,
  stockid,
  name,
  visible,
  unit_price: price,
  qty_on_hand: qty,
  hidden_by: causes,
  borrowed,
  restricted_states: states,
}: ExplainedOffer): string[] {
  const amount = price === null ? 'no price' : price.toFixed(2)
  return [
    `${distid} ${stockid}, ${name}: ${visible ? 'visible' : 'hidden'}, ${amount}, ` +
      `${figure(qty)} in stock`,
    ...(borrowed ? [`  - ${inWords(borrowed)}`] : []),
    ...(states && states.length > 0
      ? [`  - ${distid} does not ship it to ${states.join(', ')}`]
      : []),
    ...causes.map(({ pointer, reason }) =>
      pointer === null ? `  - ${reason}` : `  - ${pointer || '(document)'}: ${reason}`,
    ),
  ]
}

function inWords({
  product_class: productClass,
  ffl_req: fflReq,
  told_by: told,
  text_of: text,
}: NonNullable<ExplainedOffer['borrowed']>): string {
  const parts = [
    ...(told.length > 0
      ? [`class ${productClass} with ffl_req ${fflReq} from ${told.join(', ')}`]
      : []),
    ...(text === null ? [] : [`texts that its own feed lacks from ${text}`]),
  ]
  return `borrows ${parts.join('; ')}`
}

export const catalogCommands: Command[] = [
  carriesOut(configurationOperations, 'catalog.explain', {
    name: 'catalog explain',
    effect: 'reads',
    positionals: ['<UPC>'],
    options: SUBSCRIBER.options,
    adds: SUBSCRIBER.adds,
    example: 'quartermaster catalog explain 012345678905',
    run: explain,
  }),
]
