/** Feeds: all sources, one of them, and a first import. */
import { place } from '../../core/router.js'
import { FirstImport } from './first.js'
import { FeedList } from './list.js'
import { OneFeed } from './one.js'

export function Feeds() {
  const [, source] = place.value.path
  if (source === undefined) return <FeedList />
  return source === 'first' ? <FirstImport /> : <OneFeed key={source} source={source} />
}
