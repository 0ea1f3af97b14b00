import { setTimeout as sleep } from 'node:timers/promises'
import { findDaemon } from '../client/local-daemon.js'
import { EXIT } from '../contract/errors.js'
import { type DaemonFile, readDaemonFile } from '../local/daemon-file.js'
import { resolveDataLayout } from '../local/layout.js'
import { CliError } from './cli-error.js'
import type { StopManner } from './json-output/daemon.js'

export interface StopDaemonOptions {
  dataDir: string
  /** Whether to kill the daemon if it does not stop in time. */
  force: boolean
}

export interface StoppedDaemon {
  pid: number
  manner: StopManner
  /** Absent if the daemon did not respond. */
  file?: DaemonFile
}

/** A stopping daemon gives its streams 10 s; an earlier kill would cut them. */
const KILL_AFTER_MS = 10_000
/** An orderly stop closes indexes and waits until running work reaches its next durable step. */
const STOP_TIMEOUT_MS = 60_000
const LOCK_POLL_INTERVAL_MS = 50

/**
 * Stops the daemon of a data directory and waits until the directory is unlocked. A foreign process with a reused pid
 * is not signalled: the daemon's instance must respond at its own address or, with `force`, the process must be `ksd`.
 *
 * @returns the stopped daemon, or undefined if none was running
 */
export async function stopDaemon(options: StopDaemonOptions): Promise<StoppedDaemon | undefined> {
  const { isLocked } = await import('../local/lock.js')
  const layout = resolveDataLayout(options.dataDir)
  const isDirectoryLocked = () => isLocked(layout.lock)
  const daemon = await findDaemon(options.dataDir)
  if (daemon === undefined) {
    if (!isDirectoryLocked()) return undefined
    return await stopUnresponsive(options, isDirectoryLocked)
  }
  const { pid, instance } = daemon.file
  let isKilled = false
  process.kill(pid, 'SIGTERM')
  const startedAt = Date.now()
  while (isDirectoryLocked()) {
    const waitedMs = Date.now() - startedAt
    if (options.force && waitedMs > KILL_AFTER_MS) isKilled = killProcess(pid) || isKilled
    if (waitedMs > STOP_TIMEOUT_MS) {
      throw new CliError(`the daemon (pid ${pid}) has not stopped after ${STOP_TIMEOUT_MS / 1000} s`, {
        code: 'timeout',
        exit: EXIT.unavailable,
        hint: '`ks daemon stop --force`',
      })
    }
    await sleep(LOCK_POLL_INTERVAL_MS)
  }
  // A daemon that stops in order removes its file.
  const isFileLeft = readDaemonFile(layout.daemonFile)?.instance === instance
  return { pid, manner: isKilled ? 'killed' : isFileLeft ? 'at-once' : 'in-order', file: daemon.file }
}

/** Handles a locked directory without a responding daemon: it is starting, stopping or hanging. */
async function stopUnresponsive(
  options: StopDaemonOptions,
  isDirectoryLocked: () => boolean,
): Promise<StoppedDaemon | undefined> {
  const startedAt = Date.now()
  let killedPid: number | undefined
  while (isDirectoryLocked()) {
    if (Date.now() - startedAt > KILL_AFTER_MS) {
      const pid = readDaemonFile(resolveDataLayout(options.dataDir).daemonFile)?.pid
      if (!options.force || pid === undefined || !(await isDaemonProcess(pid))) {
        throw new CliError(`a process locks ${options.dataDir} but does not respond`, {
          code: 'unreachable',
          exit: EXIT.unavailable,
          hint: options.force ? 'its pid does not belong to a ksd process' : '`ks daemon stop --force`',
        })
      }
      if (killProcess(pid)) killedPid = pid
    }
    await sleep(LOCK_POLL_INTERVAL_MS)
  }
  return killedPid === undefined ? undefined : { pid: killedPid, manner: 'killed' }
}

/** Whether the command line of a process is that of a daemon. */
async function isDaemonProcess(pid: number): Promise<boolean> {
  const { execa } = await import('execa')
  const { failed, stdout } = await execa('ps', ['-o', 'args=', '-p', String(pid)], { reject: false })
  return !failed && /ksd(\.js)?\b/.test(stdout)
}

/** @returns whether the process existed */
function killProcess(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
