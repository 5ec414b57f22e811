/** Shapes that the operations of several domains share. */
import * as z from 'zod'

/** RFC 3339, UTC. */
export const Time = z.string().meta({ format: 'date-time' })

export const Subscriber = z.string().min(1).describe('name or id of the shop')

export const Distid = z.string().min(1).describe('`distributors list` shows them')

export const Reason = z.string().trim().min(1).max(1_000).describe('why; kept in the audit')

/** Where a chain ended when somebody noted it. */
export const Head = z.object({
  seq: z.int().min(1).describe('Number of the row'),
  mac: z.string().describe('Its digest'),
})

/** Where it ended earlier. */
export const Anchor = Head.optional().describe(
  'an earlier head: proves that nothing up to it was cut off',
)

/** A row of a file that could not be used. */
export const BrokenRow = z
  .object({ line: z.int(), reason: z.string(), text: z.string().describe('As it stands there') })
  .meta({ component: 'BrokenRow', about: 'A row of a file that could not be used' })

/** Takes in what a page has sent to the server before. */
export const Upload = z.string().min(1).describe('id of a file that was sent before')

export const DryRun = z
  .boolean()
  .default(false)
  .describe('check everything, say what would happen and change nothing')

/** A number of rows to answer with. */
export const limitOf = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe(`how many; ${usual} by default`)

export const Nothing = z.null()

/** For functions that answer nothing. */
export async function nothing(done: Promise<unknown>): Promise<null> {
  await done
  return null
}
