/**
 * Makes data/places from Census figures: the position and the counties of every ZIP area, and the
 * names of counties.
 *   node scripts/data/places.mjs FOLDER
 * FOLDER holds zctas.csv.gz, zcta_counties.csv.gz and counties.csv.gz (US Census, ZIP code
 * tabulation areas of 2020 with figures of 2025) and may hold census-2021-zcta-centroids.csv.gz
 * (the better positions).
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gunzipSync } from 'node:zlib'

const folder = process.argv[2]
if (!folder) throw new Error('which folder holds the figures? node scripts/data/places.mjs FOLDER')

/** Rows of a table without quoted cells, as objects. */
function read(name) {
  const [head, ...lines] = gunzipSync(readFileSync(join(folder, name)))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => line.trimEnd().split(','))
  return lines.map((cells) => Object.fromEntries(head.map((column, i) => [column, cells[i]])))
}

const positions = new Map(
  read('zctas.csv.gz').map((row) => [row.ZCTA5, [Number(row.Latitude), Number(row.Longitude)]]),
)
if (existsSync(join(folder, 'census-2021-zcta-centroids.csv.gz'))) {
  for (const row of read('census-2021-zcta-centroids.csv.gz'))
    positions.set(row.zip, [Number(row.lat), Number(row.lng)])
}
const counties = new Map()
for (const { ZCTA5: zip, GEOID: fips, Population: people } of read('zcta_counties.csv.gz'))
  counties.set(zip, [...(counties.get(zip) ?? []), { fips, people: Number(people) }])

/**
 * Thousandths of a degree are a hundred yards. Columns, differences to the ZIP before, and states
 * that are not repeated make it a third smaller than lines.
 */
const zips = [...positions.keys()].sort()
const differences = (numbers) => numbers.map((number, i) => number - (numbers[i - 1] ?? 0))
const codesOf = (zip) => {
  const [first, ...more] = (counties.get(zip) ?? [])
    .sort((a, b) => b.people - a.people)
    .map(({ fips }) => fips)
  if (!first) return ''
  const inState = (fips) => (fips.slice(0, 2) === first.slice(0, 2) ? fips.slice(2) : fips)
  return [first, ...more.map(inState)].join(' ')
}
const columns = [
  differences(zips.map(Number)),
  ...[0, 1].map((axis) =>
    differences(zips.map((zip) => Math.round(positions.get(zip)[axis] * 1000))),
  ),
  zips.map(codesOf),
]
const table = Buffer.from(columns.map((column) => column.join('\n')).join(';'))
const { BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants

mkdirSync('data/places', { recursive: true })
writeFileSync(
  'data/places/zips.json',
  `${JSON.stringify(
    {
      source: 'US Census Bureau, ZIP code tabulation areas (public domain)',
      format:
        'brotli, base64; four columns, a semicolon between them, each with a line a ZIP: its ' +
        'number, its latitude and its longitude in thousandths of a degree, all three as the ' +
        "difference to the ZIP before; counties by population (FIPS; those of the first one's " +
        'state without it)',
      zips: brotliCompressSync(table, {
        params: { [BROTLI_PARAM_LGWIN]: 24, [BROTLI_PARAM_SIZE_HINT]: table.length },
      }).toString('base64'),
    },
    null,
    1,
  )}\n`,
)
const named = read('counties.csv.gz').sort((a, b) => (a.GEOID < b.GEOID ? -1 : 1))
writeFileSync(
  'data/places/counties.json',
  `[\n${named.map((row) => JSON.stringify([row.GEOID, row.State, row.Name])).join(',\n')}\n]\n`,
)
console.log(`${zips.length} ZIPs, ${named.length} counties`)
