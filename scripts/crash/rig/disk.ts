/**
 * A disk that can lose its power: an ext4 image on a loop device, which is shut down without
 * writing out what it has in memory.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Disk {
  /** Where it is mounted. */
  readonly path: string
  /** Writes everything out. */
  sync(): void
  /** Takes its power: nothing that is not on the platter survives. Files may still be open. */
  cut(): void
  /** Mounts it again, once nobody has a file of it open. */
  restart(): void
  close(): void
}

const MB = 1_048_576

/** What is missing for such a disk; null when nothing is. */
export function whyNoDisk(): string | null {
  if (process.getuid?.() !== 0) return 'only root may mount a disk'
  for (const [command, ...args] of [
    ['mkfs.ext4', '-V'],
    ['losetup', '-f'],
    ['python3', '-V'],
    ['mount', '-V'],
  ] as const) {
    const { status, error } = spawnSync(command, args, { stdio: 'ignore' })
    if (error || status !== 0) return `\`${[command, ...args].join(' ')}\` does not work here`
  }
  return null
}

/**
 * EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: no write reaches the image from now on, not
 * even the file system's journal.
 */
const SHUTDOWN =
  "import fcntl, os, struct, sys; fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack('I', 2))"

export function openDisk(root: string, megabytes = 600): Disk {
  const image = join(root, 'disk.img')
  const path = join(root, 'disk')
  mkdirSync(path, { recursive: true })
  writeFileSync(image, '')
  truncateSync(image, megabytes * MB)
  execFileSync('mkfs.ext4', ['-q', '-F', image])
  let mounted = false
  const mount = () => {
    execFileSync('mount', ['-o', 'loop', image, path])
    mounted = true
  }
  const unmount = () => {
    for (let tries = 0; mounted; tries++) {
      const { status } = spawnSync('umount', tries < 20 ? [path] : ['-l', path], {
        stdio: 'ignore',
      })
      if (status === 0) mounted = false
      else spawnSync('sleep', ['0.05'])
    }
  }
  process.on('exit', unmount)
  mount()
  return {
    path,
    sync: () => {
      execFileSync('sync', ['-f', path])
    },
    cut: () => {
      execFileSync('python3', ['-c', SHUTDOWN, path])
    },
    restart() {
      unmount()
      mount()
    },
    close() {
      unmount()
      process.off('exit', unmount)
      rmSync(image, { force: true })
    },
  }
}
