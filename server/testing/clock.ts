/**
 * The clock of a test as machines have it: with a fraction, which grows from reading to reading and
 * never makes it step back. What is computed of two readings is no whole number either, so nothing
 * can rest on clocks in whole milliseconds.
 */
export function fractional(clock: () => number): () => number {
  let [shown, readings] = [Number.NaN, 0]
  return () => {
    const ms = Math.floor(clock())
    readings = ms === shown ? Math.min(readings + 1, 999) : 1
    shown = ms
    return ms + readings / (readings + 1)
  }
}
