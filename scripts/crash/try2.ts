import { runFolder } from '../../test/simulation/folder.js'
const [seed, crashes, n] = process.argv.slice(2).map(Number)
let first: string[] | null = null
for (let i = 0; i < n!; i++) {
  const lines: string[] = []
  try { await runFolder({ seed: seed!, crashes: crashes!, trace: (text) => lines.push(text) }) } catch (e) { lines.push(String(e)) }
  if (!first) first = lines
  else { const at = lines.findIndex((l, j) => l !== first![j]); if (at >= 0 || lines.length !== first.length) { console.log(i, 'differs at', at, first.slice(at-3, at+3), lines.slice(at-3, at+3)) } else console.log(i, 'same', lines.length) }
}
