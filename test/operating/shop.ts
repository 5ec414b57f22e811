import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { json } from '../server/launcher.js'

/** Makes a state folder with a shop that has one product; tells its key, good for one address. */
export async function makeShop(dir: string, address: string): Promise<string> {
  const who = ['--subscriber', 'Main Street']
  await json(dir, 'init')
  await json(dir, 'subscribers', 'create', '--name', who[1]!, '--email', 'a@shop.example')
  await json(dir, 'config', 'put', 'data/guide/examples/config-small.json', ...who)
  const feed = join(dir, '..', 'davidsons.csv')
  const head = 'Item #,Item Description,Dealer Price,Quantity,UPC Code,Gun Type'
  writeFileSync(feed, `${head}\nR0,A scope,90.00,5,012345678905,OPTICS\n`)
  await json(dir, 'feeds', 'import', 'DAV', feed)
  const made = await json(dir, 'keys', 'create', ...who, '--name', 'k', '--ip', address)
  return (made as unknown as { key: string }).key
}

/** Waits until a server can do all its work, as its admin listener tells. */
export async function ready(admin: string): Promise<void> {
  while ((await fetch(`${admin}/readyz`)).status !== 200) await sleep(50)
}
