import { runFolder } from '../../test/simulation/folder.js'
const [from, to, crashes, trace] = process.argv.slice(2).map(Number)
const t0 = performance.now()
let total = 0, bad = 0
for (let seed = from!; seed < to!; seed++) {
  const lines: string[] = []
  if (trace) process.on('exit', (code) => { if (code) console.log(lines.slice(-trace).join('\n')) })
  const r = await runFolder({ seed, crashes: crashes!, jumps: process.env.JUMPS === '1', diskFaults: Number(process.env.DISK ?? 0), ...trace && { trace: (text: string) => lines.push(text) } })
  total += r.crashes
  if (r.violations.length) {
    bad++
    console.log(seed, r.violations.slice(0, 3))
    if (trace) console.log(lines.slice(-trace).join('\n'))
  } else if (process.env.V) console.log(seed, { ...r, places: undefined })
}
const s = (performance.now() - t0) / 1000
console.log({ total, bad, perSecond: total / s })
