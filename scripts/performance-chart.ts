/** `npx tsx scripts/performance-chart.ts`: draws the tables of data/guide/performance.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { FIRST, FOLLOWS_DARK, INK, PAPER, SECOND } from './picture.js'

const PAGE = join('data', 'guide', 'performance.md')
const PICTURES = join('data', 'guide', 'pictures')

export interface Figure {
  job: string
  label: string
  /** Of its goal: more than 1 is beyond it. */
  share: number
  /** Whether the page calls it missed. */
  isMissed: boolean
}

const WIDTH = 960
const ROW = 22
const TOP = 64
const LEFT = 430
/** Pixels of a bar that has just reached its goal. */
const GOAL = 260

/** The last number of a text, which is the worse end of a range. */
function numberIn(text: string): number {
  const [, range] =
    /(\d[\d.]*(?:-\d[\d.]*)?)(?: (?:ms|us|s|GB|MB))?(?: \(missed\))?$/.exec(text) ?? []
  return Number(range?.split('-').at(-1))
}

/** The rows of the page's table that begins with this column, that of its names first. */
function tableOf(markdown: string, first: string): string[][] {
  const lines = markdown.split('\n')
  const from = lines.findIndex((line) => line.startsWith(`| ${first} |`))
  const rest = from < 0 ? [] : lines.slice(from)
  const until = rest.findIndex((line) => !line.startsWith('|'))
  return rest
    .slice(0, until < 0 ? undefined : until)
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
}

/** Every figure of the page that has a goal. */
export function figuresOf(markdown: string): Figure[] {
  const [, ...rows] = tableOf(markdown, 'Job')
  return rows.flatMap((cells) => {
    const [job = '', , , measured = '', goals = ''] = cells
    const goalOf = goals.split('; ')
    return measured.split('; ').flatMap((text, i) => {
      const goalText = goalOf[i] ?? '-'
      if (goalText === '-') return []
      const [value, goal] = [numberIn(text), numberIn(goalText)]
      const label = text.replace(/ \(missed\)$/, '').replace(/ ?[\d.-]+( (?:ms|us|s|GB|MB))?$/, '')
      const share = goalText.startsWith('at least') ? goal / value : value / goal
      return [{ job, label, share, isMissed: text.endsWith('(missed)') }]
    })
  })
}

/** The picture of a page's figures. */
export function chartOf(markdown: string): string {
  const figures = figuresOf(markdown)
  const height = TOP + figures.length * ROW + 20
  const bars = figures.map(({ job, label, share }, i) => {
    const y = TOP + i * ROW
    const name = [job, label].filter(Boolean).join(', ')
    const width = Math.round(share * GOAL)
    return `  <text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${escapeText(shorten(name))}</text>
  <rect x="${LEFT}" y="${y + 4}" width="${width}" height="14" fill="${share > 1 ? SECOND : FIRST}"/>`
  })
  const shares = figures.map(({ share }, i) => {
    const [x, y] = [LEFT + Math.round(share * GOAL) + 8, TOP + i * ROW + 15]
    return `    <text x="${x}" y="${y}" font-weight="${share > 1 ? 600 : 400}">${share.toFixed(2)}</text>`
  })
  const told = {
    label: 'Each figure as a share of its goal',
    title: 'Measured, as a share of the goal',
  }
  return `${openPicture(height, told)}
  <text x="${LEFT + GOAL}" y="${TOP - 10}" text-anchor="middle">goal</text>
${bars.join('\n')}
  <path d="M${LEFT + GOAL} ${TOP - 4}V${height - 16}" stroke="${INK}" stroke-dasharray="4 3"/>
  <g paint-order="stroke" stroke="${PAPER}" stroke-width="5">
${shares.join('\n')}
  </g>
</svg>
`
}

function openPicture(height: number, { label, title }: { label: string; title: string }): string {
  const font = 'font-family="system-ui, sans-serif" font-size="12"'
  const role = `role="img" aria-label="${label}"`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" ${font} fill="${INK}" ${role}>
  ${FOLLOWS_DARK}
  <rect width="${WIDTH}" height="${height}" fill="${PAPER}"/>
  <text x="20" y="28" font-size="15" font-weight="600">${title}</text>`
}

/** Pixels of the longest bar of a group in the picture of growth. */
const LONGEST = 380

/** The picture of how figures grow with the catalog: for each a bar by its number of offers. */
export function growthOf(markdown: string): string {
  const [names = [], ...rows] = tableOf(markdown, 'Offers')
  const group = (rows.length + 0.6) * ROW
  const groups = names.slice(1).map((name, i) => {
    const top = 44 + i * group
    const values = rows.map((cells) => ({ offers: cells[0]!, text: cells[i + 1]! }))
    const most = Math.max(...values.map(({ text }) => Number.parseFloat(text)))
    const bars = values.map(({ offers, text }, n) => {
      const y = top + n * ROW
      const width = Math.max(1, Math.round((Number.parseFloat(text) / most) * LONGEST))
      return `  <text x="${LEFT - 10}" y="${y + 15}" text-anchor="end">${offers}</text>
  <rect x="${LEFT}" y="${y + 4}" width="${width}" height="14" fill="${FIRST}"/>
  <text x="${LEFT + width + 8}" y="${y + 15}">${text}</text>`
    })
    return `  <text x="20" y="${top + 15}">${escapeText(name)}</text>\n${bars.join('\n')}`
  })
  const height = Math.round(44 + groups.length * group + 10)
  const title = 'What grows with the number of offers'
  return `${openPicture(height, { label: title, title })}\n${groups.join('\n')}\n</svg>\n`
}

function shorten(text: string): string {
  return text.length > 66 ? `${text.slice(0, 63)}...` : text
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const markdown = readFileSync(PAGE, 'utf8')
  writeFileSync(join(PICTURES, 'performance.svg'), chartOf(markdown))
  writeFileSync(join(PICTURES, 'growth.svg'), growthOf(markdown))
}
