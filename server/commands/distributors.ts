import { withApp } from '../with-app.js'
import type { Command } from '../command.js'

export const distributorCommands: Command[] = [
  {
    name: 'distributors list', summary: 'Known distributors and how many offers each has', effect: 'reads',
    example: 'quartermaster distributors list',
    run: ({ dir, out }) => withApp(dir, async (app) => {
      const count = app.ctx.engine.catalog.prepare('SELECT count(*) FROM offer WHERE distid = ?').pluck()
      const distributors = app.ctx.distributors.all.map(({ distid, name, automatedFulfillment }) => ({
        distid, name, automated_fulfillment: automatedFulfillment, offers: count.get(distid) as number,
      }))
      out.table(distributors)
      out.result({ distributors })
    }),
  },
]
