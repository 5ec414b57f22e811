/** Colors of the drawings in data/guide/pictures: those of the pages around them, light and dark. */

/** Text, its background, lines, what is within its goal or first, what is beyond it or second, what is shaded. */
export const [INK, PAPER, EDGE, FIRST, SECOND, SHADE] = [
  '#1b211e',
  '#fcfcfb',
  '#868f8a',
  '#1d6a53',
  '#c0832b',
  '#e1e5e2',
]

const DARK: Record<string, string> = {
  [INK]: '#e6ebe8',
  [PAPER]: '#111513',
  [EDGE]: '#76817b',
  [FIRST]: '#74cdae',
  [SECOND]: '#e0a955',
  [SHADE]: '#2b332f',
}

/** The style of a drawing: each color has another one where dark pages are wanted. */
export const FOLLOWS_DARK = `<style>@media (prefers-color-scheme: dark) { ${Object.entries(DARK)
  .map(
    ([light, dark]) =>
      `[fill="${light}"] { fill: ${dark} } [stroke="${light}"] { stroke: ${dark} }`,
  )
  .join(' ')} }</style>`
