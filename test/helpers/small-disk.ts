import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { temporaryFolder } from '../../bench/lib/daemon.js'

/** A folder on a separate disk of little capacity. */
export interface SmallDisk {
  /** folder that contains the mount point, on the disk of the system */
  home: string
  /** mount point */
  path: string
  /** false where mounting is not allowed: then `path` is a plain folder, and the reason was printed */
  isMounted: boolean
  /** fills the disk completely, except `leave` bytes */
  fill(leave: number): void
  /** frees what `fill` occupied */
  free(): void
  remove(): void
}

/** Mounts a file system with maximal numbers of bytes and of files. Requires Linux and the right to mount. */
export function mountSmallDisk(name: string, megabytes: number, inodes?: number): SmallDisk {
  const home = temporaryFolder(name)
  const path = join(home.path, 'data')
  const ballast = join(path, 'ballast')
  mkdirSync(path, { mode: 0o700 })
  const mountError = mountTmpfs(
    path,
    `size=${megabytes}m,mode=0700${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`,
  )
  if (mountError !== undefined)
    process.stdout.write(`SKIPPED ${name}: no small disk can be mounted here: ${mountError}\n`)
  return {
    home: home.path,
    path,
    isMounted: mountError === undefined,
    fill: (leave) => fill(path, ballast, leave),
    free: () => rmSync(ballast, { force: true }),
    remove() {
      if (mountError === undefined) unmount(path)
      home.remove()
    },
  }
}

/** Mounts an empty file system in memory over a folder. @returns the reason if it could not */
export function mountTmpfs(path: string, options: string): string | undefined {
  if (process.platform !== 'linux') return `the system is ${process.platform}`
  const mount = execaSync('mount', ['-t', 'tmpfs', '-o', options, 'none', path], { reject: false })
  return mount.failed ? mount.stderr?.trim() || mount.shortMessage : undefined
}

export function unmount(path: string): void {
  execaSync('umount', ['-l', path], { reject: false })
}

function fill(path: string, ballast: string, leave: number): void {
  const file = openSync(ballast, 'a', 0o600)
  try {
    const { bavail, bsize } = statfsSync(path)
    let remainingBytes = bavail * bsize - leave
    const chunk = Buffer.alloc(64 * 1024)
    while (remainingBytes > 0) remainingBytes -= writeSync(file, chunk, 0, Math.min(chunk.length, remainingBytes))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(file)
  }
}
