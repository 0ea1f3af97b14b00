import { type ChildProcess, fork } from 'node:child_process'
import { join, parse as parsePath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { resolveEntryUrl } from '../../lib/entry.js'
import { buildHelperThreadsFlag } from '../../lib/helper-threads.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import { lowerPriority } from '../../lib/low-priority.js'
import { listProgramFiles } from '../../local/program-files.js'
import type { ReadLimits } from './limits.js'
import { createMeter } from './meter.js'
import { type BatchOutcome, type BatchRun, runBatch, unrefChild } from './run-batch.js'

/** Small files leave short-lived garbage: a larger nursery would only hold memory. */
const NODE_FLAGS = ['--max-semi-space-size=2', buildHelperThreadsFlag(1)]
/** One arena is enough: only one thread works at a time. */
const MALLOC_ENV = { MALLOC_ARENA_MAX: '1' }
/** Characters that are kept from the end of the child's error output. */
const MAX_STDERR_LENGTH = 16 * 1024
/** Fraction of the process's memory limit for the JavaScript heap; buffers use the rest. */
const HEAP_FRACTION = 2 / 3
/** Timeout for the child's `ready`, without the time in which other processes had the processors. */
const START_TIMEOUT_MS = 20_000
const START_POLL_MS = 250

const MIB = 1024 * 1024

/** A running reading process. */
export interface ReadingProcess {
  readonly pid: number
  /** Whether it has had no batch yet. */
  isFresh(): boolean
  /** Reads one batch; only one at a time. */
  run(batch: BatchRun): Promise<BatchOutcome>
  /** Kills the process at once; a running batch ends with `died`. */
  kill(): void
}

/**
 * Forks a process that reads untrusted files. It can read only the files of this program and of `folders`. It cannot
 * write, start processes or threads, or load add-ons (Node's permission model); its environment is empty and its heap
 * bounded.
 *
 * @param folders readable, with everything below them
 * @param flags further flags of Node
 */
export function forkReader(
  entry: URL,
  {
    heapMib,
    stderr,
    folders = [],
    flags,
    env,
  }: { heapMib: number; stderr: 'pipe' | 'ignore'; folders?: readonly string[]; flags: string[]; env?: object },
): ChildProcess {
  return fork(fileURLToPath(entry), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    execArgv: [
      '--no-warnings',
      ...NO_DEBUGGER_FLAGS,
      process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
      ...[...listProgramFiles(), ...folders.map((folder) => join(folder, '*'))].map(
        (path) => `--allow-fs-read=${path}`,
      ),
      `--max-old-space-size=${heapMib}`,
      ...flags,
    ],
    env: { TZ: 'UTC', ...env },
    cwd: parsePath(process.cwd()).root,
  })
}

/**
 * Starts a reading process. Resolves when it is ready for its first batch.
 *
 * @param options `inForeground` keeps the normal priority of the process; it may read `folders`
 * @throws Error when it does not start
 */
export async function startReadingProcess(
  limits: ReadLimits,
  { inForeground, folders }: { inForeground: boolean; folders: readonly string[] },
): Promise<ReadingProcess> {
  const child = forkReader(resolveEntryUrl(import.meta.url, './child.js'), {
    heapMib: Math.floor((limits.memoryBytes * HEAP_FRACTION) / MIB),
    stderr: 'pipe',
    folders,
    flags: NODE_FLAGS,
    env: { ...MALLOC_ENV, ...(process.env.KS_FAULT === undefined ? {} : { KS_FAULT: process.env.KS_FAULT }) },
  })
  const stderrText = collectStderr(child)
  const meter = createMeter(child.pid)
  await new Promise<void>((resolve, reject) => {
    const fail = (detail: string): void => {
      clearInterval(poll)
      child.kill('SIGKILL')
      reject(new Error(`the reading process did not start: ${detail}`))
    }
    const poll = setInterval(() => {
      if (meter.sample().wallMs > START_TIMEOUT_MS) fail('no answer')
    }, START_POLL_MS)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code, signal) =>
      fail(`${signal ?? `exit code ${code}`} ${stderrText.text().slice(-500)}`.trim()),
    )
    child.once('message', () => {
      clearInterval(poll)
      child.removeAllListeners('exit')
      child.removeAllListeners('error')
      resolve()
    })
  })
  if (!inForeground) lowerPriority(child.pid)
  child.on('error', () => undefined)
  killAtExit(child)
  unrefChild(child)
  let batches = 0
  return {
    pid: child.pid ?? 0,
    isFresh: () => batches === 0,
    run(batch) {
      batches++
      return runBatch(child, limits, stderrText.text, batch)
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Keeps the end of the child's error output. */
function collectStderr(child: ChildProcess): { text(): string } {
  let text = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    text = (text + chunk).slice(-MAX_STDERR_LENGTH)
  })
  // The pipe must not keep the parent alive.
  if (child.stderr !== null && 'unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref()
  return { text: () => text }
}
