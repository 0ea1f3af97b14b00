import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { temporaryFolder } from '../../bench/lib/daemon.js'

/** A folder on a separate disk of little capacity. */
export interface SmallDisk {
  /** a folder around it, on the disk of the system */
  home: string
  path: string
  /** false where mounting is not allowed: then `path` is a plain folder, and the reason was printed */
  isMounted: boolean
  /** fills the disk completely, except `leave` bytes */
  fill(leave: number): void
  /** frees what `fill` occupied */
  free(): void
  remove(): void
}

/**
 * Mounts a file system of this many megabytes, with a limit on files and folders; that takes Linux and the right to
 * mount.
 */
export function smallDisk(name: string, megabytes: number, inodes?: number): SmallDisk {
  const home = temporaryFolder(name)
  const path = join(home.path, 'data')
  const ballast = join(path, 'ballast')
  mkdirSync(path, { mode: 0o700 })
  const trouble = mountTmpfs(path, `size=${megabytes}m,mode=0700${inodes === undefined ? '' : `,nr_inodes=${inodes}`}`)
  if (trouble !== undefined) process.stdout.write(`SKIPPED ${name}: no small disk can be mounted here: ${trouble}\n`)
  return {
    home: home.path,
    path,
    isMounted: trouble === undefined,
    fill: (leave) => fill(path, ballast, leave),
    free: () => rmSync(ballast, { force: true }),
    remove() {
      if (trouble === undefined) unmount(path)
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
    let left = bavail * bsize - leave
    const piece = Buffer.alloc(64 * 1024)
    while (left > 0) left -= writeSync(file, piece, 0, Math.min(piece.length, left))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
  } finally {
    closeSync(file)
  }
}
