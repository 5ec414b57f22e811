/** What is wider than the screen fades at the edge behind which there is more. */
import { useLayoutEffect, useRef } from 'preact/hooks'

/**
 * For the element that scrolls; its parent is the frame, whose `data-more` says `left`, `right`,
 * `both` or nothing.
 */
export function useSideways<E extends HTMLElement>() {
  const ref = useRef<E>(null)
  useLayoutEffect(() => {
    const scroller = ref.current
    if (!scroller) return undefined
    const tell = () => {
      const rest = scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft
      const [left, right] = [scroller.scrollLeft > 1, rest > 1]
      const more = left && right ? 'both' : left ? 'left' : right ? 'right' : ''
      scroller.parentElement!.dataset['more'] = more
    }
    const watch = new ResizeObserver(tell)
    for (const element of [scroller, ...scroller.children]) watch.observe(element)
    scroller.addEventListener('scroll', tell, { passive: true })
    return () => {
      watch.disconnect()
      scroller.removeEventListener('scroll', tell)
    }
  }, [])
  return ref
}

/** Moves a scrolling element so that the current one of its links is in the middle. */
export function showCurrent(scroller: HTMLElement): void {
  const current = scroller.querySelector<HTMLElement>('[aria-current]')
  if (current)
    scroller.scrollLeft =
      current.offsetLeft - scroller.offsetLeft - (scroller.clientWidth - current.offsetWidth) / 2
}
