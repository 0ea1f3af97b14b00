import type { ChildProcess } from 'node:child_process'
import { openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { readResidentBytes } from '../../lib/resident-bytes.js'
import { readLink } from '../file-system.js'

/** Environment variable that marks the processes of an unconfined program. */
export const FAMILY_MARK = 'KS_CONVERSION'

/** Maximum number of rounds that kill the rest of a family: its processes may start others meanwhile. */
const KILL_ROUNDS = 500
const ROUND_MS = 10
/** Indexes of fields in /proc/PID/stat, counted from the state: parent, and start in clock ticks. */
const PARENT_FIELD = 1
const START_FIELD = 19

interface ProcessEntry {
  pid: number
  parent: number
  /** differs where a process id is reused */
  start: string
}

/** Identifies the processes of an unconfined program. */
interface FamilyIdentity {
  /** value of the environment variable `FAMILY_MARK`, used for one start */
  mark: string
  /** the working folder */
  folder: string
}

export interface FamilyUsage {
  processes: number
  residentBytes: number
}

/**
 * Opens a marker file in the folder of an unconfined program. All of its processes inherit the file, which identifies
 * them.
 *
 * @returns a descriptor, which the caller closes once the program has started
 */
export function openMarkerFile({ mark, folder }: FamilyIdentity): number {
  return openSync(join(folder, `.${mark}`), 'wx', 0o600)
}

/**
 * A program with all of its processes. Those of a confined program are its descendants. An unconfined one may leave
 * processes without a parent: they are identified by the mark in their environment, by an open file in the program's
 * folder (all inherit one), by their working folder there, and by an earlier observation as a descendant.
 *
 * Linux only; elsewhere no processes are found, and only the process group of the program is killed.
 */
export class ProcessFamily {
  readonly #child: ChildProcess
  readonly #identity: FamilyIdentity | undefined
  readonly #knownStarts = new Map<number, string>()

  /** @param identity of a program that runs unconfined */
  constructor(child: ChildProcess, identity?: FamilyIdentity) {
    this.#child = child
    this.#identity = identity
  }

  measure(): FamilyUsage {
    const pids = this.#findMembers()
    return { processes: pids.length, residentBytes: pids.reduce((sum, pid) => sum + readResidentBytes(pid), 0) }
  }

  /** Kills the program at once, without waiting. */
  kill(): void {
    for (const pid of this.#findMembers()) killProcess(pid)
    killGroup(this.#child)
  }

  /** Kills everything that still runs, and waits for its end. */
  async end(): Promise<void> {
    killGroup(this.#child)
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const pids = this.#findMembers()
      if (pids.length === 0) return
      for (const pid of pids) killProcess(pid)
      await sleep(ROUND_MS)
    }
  }

  /** Ids of the running members. */
  #findMembers(): number[] {
    const entries = listProcesses()
    const members = new Map<number, string>()
    const leader = this.#child.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined
    for (const { pid, start } of entries)
      if (pid === leader || this.#knownStarts.get(pid) === start || this.#isMarked(pid)) members.set(pid, start)
    for (let previousSize = -1; previousSize < members.size; ) {
      previousSize = members.size
      for (const { pid, parent, start } of entries) if (members.has(parent)) members.set(pid, start)
    }
    for (const [pid, start] of members) this.#knownStarts.set(pid, start)
    return [...members.keys()]
  }

  #isMarked(pid: number): boolean {
    if (this.#identity === undefined || pid === process.pid) return false
    const { mark, folder } = this.#identity
    const isInside = (path: string) => path === folder || path.startsWith(`${folder}/`)
    try {
      return (
        readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(`${FAMILY_MARK}=${mark}`) ||
        isInside(readlinkSync(`/proc/${pid}/cwd`)) ||
        readdirSync(`/proc/${pid}/fd`).some((fd) => isInside(readLink(`/proc/${pid}/fd/${fd}`)))
      )
    } catch {
      return false // another user's process, or it has ended
    }
  }
}

/** All processes that have not ended. */
function listProcesses(): ProcessEntry[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
      const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      if (state === 'Z' || state === 'X') return []
      return [{ pid: Number(name), parent: Number(fields[PARENT_FIELD - 1]), start: fields[START_FIELD - 1] ?? '' }]
    } catch {
      return [] // it has ended
    }
  })
}

/** Kills the child with the process group that it leads. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL') // Windows has no groups; elsewhere the process has already exited.
  }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it has ended meanwhile
  }
}
