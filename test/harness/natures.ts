/**
 * What the distributors of one folder are like: always the six classes, each time with other
 * habits.
 */
import type { Recovery } from '../../lib/distributors/fulfillment.js'
import type { Rng } from './random.js'
import { NAMES } from './shop.js'
import type { Nature, Tells } from './world.js'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

const CLASSES: Readonly<Record<string, Recovery>> = {
  RES: 'resend',
  LOO: 'lookup',
  STA: 'staged',
  CAR: 'staged',
  FIL: 'file',
  ONE: 'one_shot',
}

export function drawNatures(rng: Rng): Map<string, Nature> {
  return new Map(
    Object.entries(CLASSES).map(([distid, recovery]) => [
      distid,
      drawNature(rng, distid, recovery),
    ]),
  )
}

function drawNature(rng: Rng, distid: string, recovery: Recovery): Nature {
  const isReport = recovery === 'one_shot' || recovery === 'file'
  const hasFind =
    recovery === 'resend' ? rng.chance(0.7) : recovery === 'one_shot' ? rng.chance(0.8) : true
  return {
    distid,
    name: NAMES[distid]!,
    recovery,
    hasFind,
    tells: drawTells(rng, recovery),
    isCart: distid === 'CAR',
    isCareless: rng.chance(0.5),
    validatesFirst: rng.chance(0.7),
    limits: {
      po: rng.pick([{ max: 60 }, { max: 22, chars: /[A-Z0-9-]/ }, { max: 16 }]),
      ...(distid === 'CAR' && { concurrency: 1 }),
      ...(rng.chance(0.3) && { concurrency: distid === 'CAR' ? 1 : 2 }),
      ...(!isReport && { visibilityLag: MINUTE }),
    },
    lag: isReport ? rng.pick([MINUTE, MINUTE, MINUTE, 10 * MINUTE, HOUR, 20 * HOUR]) : MINUTE,
    unreported: recovery === 'one_shot' ? 0.1 : recovery === 'file' ? 0.05 : 0,
  }
}

/**
 * Most tell the reference or the content, some no more than a PO. A cart's and a stage's orders
 * carry the reference as a note.
 */
function drawTells(rng: Rng, recovery: Recovery): Tells {
  const ref = recovery === 'staged' || rng.chance(0.5)
  return {
    ref,
    number: recovery !== 'file' || rng.chance(0.7),
    content: rng.chance(ref ? 0.6 : 0.8),
    placedAt: rng.pick([null, 'exact', 'day'] as const),
    po: rng.pick(['same', 'upper', 'cut'] as const),
  }
}
