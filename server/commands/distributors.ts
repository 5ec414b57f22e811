import { withApp } from '../with-app.js'
import type { Command } from '../command.js'

export const distributorCommands: Command[] = [
  {
    name: 'distributors list', summary: 'Known distributors and how many offers each has', effect: 'reads',
    example: 'quartermaster distributors list',
    run: ({ dir, out }) => withApp(dir, async (app) => {
      const offers = app.ctx.engine.catalog.prepare('SELECT offers FROM tally WHERE distid = ?').pluck()
      const distributors = app.ctx.distributors.all.map(({ distid, name, automatedFulfillment }) => ({
        distid, name, automated_fulfillment: automatedFulfillment, offers: offers.get(distid) as number | undefined ?? 0,
      }))
      out.table(distributors)
      out.result({ distributors })
    }),
  },
]
