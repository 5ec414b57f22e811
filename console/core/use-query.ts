/** Filters that stand in the address: a link to what is shown, and back leads to the same. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { place, refine } from './router.js'

/** How long typing may pause before it is looked up, in milliseconds. */
const PAUSE = 200

/**
 * Text of one member of the query, and what sets it: shown at once, and looked up when typing
 * pauses.
 */
export function useTyped(name: string): [string, (text: string) => void] {
  const given = place.value.query[name] ?? ''
  const [text, setText] = useState(given)
  const sent = useRef(given)
  useEffect(() => {
    // The address was changed by somebody else: a link, or the way back.
    if (given !== sent.current) {
      sent.current = given
      setText(given)
    }
  }, [given])
  useEffect(() => {
    if (text === sent.current) return undefined
    const timer = window.setTimeout(() => {
      sent.current = text
      refine({ [name]: text, page: undefined, offset: undefined })
    }, PAUSE)
    return () => window.clearTimeout(timer)
  }, [text])
  return [text, setText]
}

/** Sets a filter; the list begins anew. */
export const filter = (name: string) => (value: string | boolean) =>
  refine({ [name]: value, page: undefined, offset: undefined })
