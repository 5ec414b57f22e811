/** Where the console was served last: what a link that is made at the command line begins with. */
import type { AccountsCtx } from '../accounts/ctx.js'

const USUAL = 'http://127.0.0.1:9464'

export async function rememberAddress(
  ctx: Pick<AccountsCtx, 'db' | 'read'>,
  url: string,
): Promise<void> {
  if ((await consoleAddress(ctx)) === url) return
  await ctx.db.replaceInto('console_place').values({ one: 1, url }).execute()
}

export async function consoleAddress({ read }: Pick<AccountsCtx, 'read'>): Promise<string> {
  const row = await read.selectFrom('console_place').select('url').executeTakeFirst()
  return row?.url ?? USUAL
}

/** In the fragment: it goes to no server, and into no log. */
export const linkAddress = (url: string, token: string): string => `${url}/#link=${token}`
