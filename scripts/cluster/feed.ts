/** A feed whose prices, stock and words move all the while, and what nodes show of it. */
import { renameSync, writeFileSync } from 'node:fs'
import { pause } from '../../lib/core/async/wait.js'
import { SECOND } from '../../lib/core/clock.js'
import { acmeFeed, acmeRow } from '../../test/feeds/bench.js'
import type { Ground } from './ground.js'
import type { ClusterNode } from './nodes.js'

const ITEMS = 60
/** Milliseconds within which all nodes show the same once nothing fails any more. */
const PATIENCE = 60 * SECOND

export interface MovingFeed {
  /** Has it move, and whoever leads pull it, until it is told to stop. */
  move(stop: AbortSignal): Promise<void>
  /** Once all nodes show the newest edition alike: nothing. Else what is wrong. */
  apart(key: string): Promise<string[]>
}

export function movingFeed(
  { feed }: Ground,
  nodes: readonly ClusterNode[],
  random: () => number,
): MovingFeed {
  let edition = 0
  const cents = Array.from({ length: ITEMS + 1 }, () => 1_000)

  function write(): void {
    edition++
    // So little at a time that no guard takes it for a mistake.
    for (let i = 0; i < 5; i++)
      cents[1 + Math.floor(random() * ITEMS)]! += Math.floor(random() * 9) - 4
    const rows = acmeFeed(ITEMS, (i) => {
      const row = acmeRow(i, (cents[i]! / 100).toFixed(2), String(1 + Math.floor(random() * 9)))
      return i === 1 ? row.replace('Item 1', nameOf(edition)) : row
    })
    writeFileSync(`${feed}.new`, rows)
    renameSync(`${feed}.new`, feed)
  }

  const pull = () => nodes.forEach((node) => node.pull())

  return {
    async move(stop) {
      while (!stop.aborted) {
        write()
        pull()
        await pause(500 + random() * 2_000, stop)
      }
    },
    async apart(key) {
      let seen: string[] = []
      for (const begun = performance.now(); performance.now() - begun < PATIENCE;) {
        pull()
        await pause(SECOND)
        seen = await Promise.all(nodes.map((node) => shownBy(node, key)))
        if (seen.every((one) => one === seen[0] && one.includes(`"${nameOf(edition)}"`))) return []
      }
      const editions = seen.map((one) => /"(Edition \d+)"/.exec(one)?.[1] ?? one.slice(0, 200))
      return [`the newest is ${nameOf(edition)}, and nodes show ${editions.join(', ')}`]
    },
  }
}

const nameOf = (edition: number) => `Edition ${edition}`

/** What a node finds, as text. */
async function shownBy({ url }: ClusterNode, key: string): Promise<string> {
  try {
    const response = await fetch(`${url}/v1/products/search?page_size=100&sort=name`, {
      headers: { 'x-api-key': key, connection: 'close' },
      signal: AbortSignal.timeout(10 * SECOND),
    })
    const { data, error } = (await response.json()) as { data?: unknown; error?: unknown }
    return JSON.stringify(data ?? error)
  } catch (error) {
    return String(error)
  }
}
