import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readDaemonFile } from './daemon-file.js'
import type { DataLayout } from './layout.js'

const POLL_MS = 50
/** Time in which a daemon publishes its id after it took the lock; for systems that do not report the holder of a lock. */
const STARTUP_TIMEOUT_MS = 10_000

/**
 * Finds the process that holds the lock of a data directory: reported by the kernel, or by the daemon in its file.
 *
 * @returns `undefined` if neither reports it
 */
export async function findLockHolder(layout: DataLayout): Promise<number | undefined> {
  const holder = readLockHolder(layout.lock)
  if (holder !== undefined) return holder
  for (const deadline = performance.now() + STARTUP_TIMEOUT_MS; performance.now() < deadline; await sleep(POLL_MS)) {
    const pid = readDaemonFile(layout.daemonFile)?.pid
    if (pid !== undefined && isAlive(pid)) return pid
  }
  return undefined
}

/** Reads /proc/locks: `1: POSIX ADVISORY WRITE 4711 00:2b:1234 0 EOF`. */
function readLockHolder(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path)
    // The device as Linux encodes it for programs (makedev(3)).
    const major = Math.floor(dev / 2 ** 8) % 2 ** 12
    const minor = (dev % 2 ** 8) + Math.floor(dev / 2 ** 20) * 2 ** 8
    const locks = readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .map((line) => line.split(/\s+/))
      // A process of another container has no id here.
      .filter(([, , , kind, pid, file]) => kind === 'WRITE' && Number(pid) > 0 && file?.endsWith(`:${ino}`) === true)
    // Layered file systems report another device to programs than to the lock table.
    const exact = locks.find(([, , , , , file]) => file === `${toHex(major)}:${toHex(minor)}:${ino}`)
    const [only, ...others] = new Set(locks.map(([, , , , pid]) => pid))
    const pid = exact?.[4] ?? (others.length === 0 ? only : undefined)
    if (pid !== undefined) return Number(pid)
  } catch {
    // not Linux
  }
  return undefined
}

function toHex(number: number): string {
  return number.toString(16).padStart(2, '0')
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
