/** The beginning of a long document, ended so that it is whole: its first rows, and what closes it. */

/** A place where something opens, or where what closes has ended. */
interface Mark {
  readonly at: number
  /** What closes it; null where it is what closes. */
  readonly closer: string | null
}

/**
 * JSON, XML (also XML that is written into XML as text) or lines: without the row that was cut off.
 * A document of which no row is whole stays as it is.
 */
export function cutToRows(head: string): string {
  const start = head.trimStart()[0]
  if (start === '{' || start === '[') return closed(head, [...jsonMarks(head)])
  if (start === '<') return closed(head, [...xmlMarks(head)])
  const end = head.lastIndexOf('\n')
  return end < 0 ? head : head.slice(0, end + 1)
}

/** Rows are what there are several of, the least deep in. */
function closed(head: string, marks: readonly Mark[]): string {
  const open: string[] = []
  const ends = new Map<number, { at: number; rest: string; count: number }>()
  for (const { at, closer } of marks) {
    if (closer !== null) open.push(closer)
    else {
      open.pop()
      const count = (ends.get(open.length)?.count ?? 0) + 1
      ends.set(open.length, { at, rest: open.toReversed().join(''), count })
    }
  }
  const rows = [...ends].sort(([a], [b]) => a - b).find(([, { count }]) => count > 1)?.[1]
  return rows ? head.slice(0, rows.at) + rows.rest : head
}

function* jsonMarks(text: string): Generator<Mark> {
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === '{' || token === '[') yield { at: index, closer: token === '{' ? '}' : ']' }
    else if (token === '}' || token === ']') yield { at: index + 1, closer: null }
  }
}

function* xmlMarks(text: string): Generator<Mark> {
  const tags = /(<|&lt;)(\/?)([A-Za-z_][\w:.-]*)((?:(?!>|&gt;|\/>|\/&gt;).)*)(\/?)(>|&gt;)/gs
  for (const { 1: begin, 2: slash, 3: name, 5: isEmpty, 6: end, 0: tag, index } of text.matchAll(
    tags,
  )) {
    if (isEmpty === '/') continue
    yield slash === '/'
      ? { at: index + tag.length, closer: null }
      : { at: index, closer: `${begin}/${name}${end}` }
  }
}
