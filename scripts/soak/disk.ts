/** A disk of its own for a soak run, which can be full for a while. Needs root and loop devices. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface SoakDisk {
  dir: string
  /** Leaves no byte free; null where the folder is on the machine's own disk. */
  fill: (() => void) | null
  empty(): void
  remove(): void
}

const GB = 1_073_741_824

/** An ext4 file system of so many bytes, or a folder on the machine's disk where none can be made. */
export function makeDisk(bytes = 12 * GB): SoakDisk {
  const folder = mkdtempSync(join(tmpdir(), 'qm-soak-disk-'))
  const image = join(folder, 'image')
  const mount = join(folder, 'disk')
  mkdirSync(mount)
  try {
    const file = openSync(image, 'w')
    ftruncateSync(file, bytes)
    closeSync(file)
    execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image])
    execFileSync('mount', ['-o', 'loop', image, mount])
  } catch (error) {
    console.log(`no disk of its own, so none that can be full: ${(error as Error).message}`)
    return { dir: mount, fill: null, empty() {}, remove: () => rmSync(folder, { recursive: true }) }
  }
  const filler = join(mount, 'filler')
  return {
    dir: join(mount, 'state'),
    fill() {
      const { bavail, bsize } = statfsSync(mount)
      execFileSync('fallocate', ['-l', `${Math.max(bsize, (bavail - 64) * bsize)}`, filler])
    },
    empty: () => rmSync(filler, { force: true }),
    remove() {
      execFileSync('umount', ['-l', mount])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
