import { setTimeout as sleep } from 'node:timers/promises'
import { findDaemon } from '../client/local-daemon.js'
import { EXIT } from '../contract/errors.js'
import { type DaemonFile, readDaemonFile } from '../local/daemon-file.js'
import { dataLayout } from '../local/layout.js'
import { CliError } from './cli-error.js'

export interface StopOptions {
  dataDir: string
  /** kill it when it does not leave by itself */
  force: boolean
}

/** How a daemon left: in order; at once, before everything was closed; or killed here. */
export type StopManner = 'in-order' | 'at-once' | 'killed'

export interface StoppedDaemon {
  pid: number
  manner: StopManner
  /** absent where it did not answer */
  file?: DaemonFile
}

/** A stopping daemon gives its streams 10 s; killing one before would cut them. */
const FORCE_AFTER_MS = 10_000
/** An orderly stop closes indexes and waits for what runs to reach its next durable step. */
const STOP_MS = 60_000
const POLL_MS = 50

/**
 * Stops the daemon of a data directory and waits until the directory is free. A process is signalled only after its
 * instance has answered under its own address, so a foreign process that got an old pid is never touched.
 *
 * @returns the daemon that was stopped, or undefined when none ran
 */
export async function stopDaemon(options: StopOptions): Promise<StoppedDaemon | undefined> {
  const { isLocked } = await import('../local/lock.js')
  const layout = dataLayout(options.dataDir)
  const locked = () => isLocked(layout.lock)
  const daemon = await findDaemon(options.dataDir)
  if (daemon === undefined) {
    if (!locked()) return undefined
    return await stopUnanswering(options, locked)
  }
  const { pid, instance } = daemon.file
  let killed = false
  process.kill(pid, 'SIGTERM')
  const started = Date.now()
  while (locked()) {
    const waited = Date.now() - started
    if (options.force && waited > FORCE_AFTER_MS) killed = kill(pid) || killed
    if (waited > STOP_MS) {
      throw new CliError(`the daemon (pid ${pid}) has not left after ${STOP_MS / 1000} s`, {
        code: 'timeout',
        exit: EXIT.unavailable,
        hint: '`ks daemon stop --force`',
      })
    }
    await sleep(POLL_MS)
  }
  // one that stops in order takes its file along
  const left = readDaemonFile(layout.daemonFile)?.instance === instance
  return { pid, manner: killed ? 'killed' : left ? 'at-once' : 'in-order', file: daemon.file }
}

/** Somebody holds the lock and nobody answers: a daemon that starts, stops or hangs. */
async function stopUnanswering(options: StopOptions, locked: () => boolean): Promise<StoppedDaemon | undefined> {
  const started = Date.now()
  let killed: number | undefined
  while (locked()) {
    if (Date.now() - started > FORCE_AFTER_MS) {
      const pid = readDaemonFile(dataLayout(options.dataDir).daemonFile)?.pid
      if (!options.force || pid === undefined || !(await isOurs(pid))) {
        throw new CliError(`a process holds ${options.dataDir} but does not answer`, {
          code: 'unreachable',
          exit: EXIT.unavailable,
          hint: options.force ? 'its pid is not known to be a daemon of ours' : '`ks daemon stop --force`',
        })
      }
      if (kill(pid)) killed = pid
    }
    await sleep(POLL_MS)
  }
  return killed === undefined ? undefined : { pid: killed, manner: 'killed' }
}

/** Whether the command line of a process is that of our daemon. */
async function isOurs(pid: number): Promise<boolean> {
  const { execa } = await import('execa')
  const { failed, stdout } = await execa('ps', ['-o', 'args=', '-p', String(pid)], { reject: false })
  return !failed && /ksd(\.js)?\b/.test(stdout)
}

/** @returns whether it was there to be killed */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
