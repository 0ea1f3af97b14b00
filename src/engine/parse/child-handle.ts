import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parse as parsePath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NO_DEBUGGER_FLAGS } from '../../lib/debugger-flags.js'
import { entryUrl } from '../../lib/entry.js'
import { helperThreads } from '../../lib/helper-threads.js'
import { killAtExit } from '../../lib/kill-at-exit.js'
import { lowerPriority } from '../../lib/low-priority.js'
import type { CompileRequest, CompileResult, ContainedSink } from './compiled.js'
import type { ReadLimits } from './limits.js'
import type { Batch, DocumentPart, Report, Taken } from './messages.js'

/** What small files leave is young garbage: a larger nursery would only be held. */
const NODE_FLAGS = ['--max-semi-space-size=2', helperThreads(1)]
/** One thread works at a time. */
const MALLOC = { MALLOC_ARENA_MAX: '1' }
/** How often the child's memory is looked at while it works. */
const WATCH_MS = 250
/** Of what the child says on its error output, the end is kept. */
const MAX_STDERR = 16 * 1024
/** The JavaScript heap may take this share of the process's memory; buffers take the rest. */
const HEAP_SHARE = 2 / 3
/** A child that has not said `ready` by then will not. */
const START_MS = 20_000

const MIB = 1024 * 1024

/** How a batch ended. All but `done` mean that the child is gone. */
export type BatchEnd =
  | { end: 'done'; rss: number }
  | { end: 'timeout' }
  | { end: 'memory' }
  /** `started` is false when it was gone before it had the batch */
  | { end: 'died'; detail: string; started: boolean }

/** A running reading process. */
export interface Child {
  readonly pid: number
  /**
   * Reads one batch. Only one at a time.
   *
   * @param stallMs the child is killed when no result comes for this long
   * @param inside takes what lies in the files; where it rejects, so does this, and the child is gone
   */
  run(
    requests: CompileRequest[],
    stallMs: number,
    onResults: (start: number, results: CompileResult[]) => void,
    inside?: ContainedSink,
  ): Promise<BatchEnd>
  /** Ends the process at once; a running batch ends with `died`. */
  kill(): void
}

/**
 * Forks a process that reads what may be hostile: no write access, no processes, threads or add-ons (Node's permission
 * model), no environment, bounded heap.
 *
 * @param flags further ones of Node
 */
export function forkReader(
  entry: URL,
  { heapMib, stderr, flags, env }: { heapMib: number; stderr: 'pipe' | 'ignore'; flags: string[]; env?: object },
): ChildProcess {
  return fork(fileURLToPath(entry), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    execArgv: [
      '--no-warnings',
      ...NO_DEBUGGER_FLAGS,
      process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission',
      '--allow-fs-read=*',
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
 * @throws Error when it does not start
 */
export async function startChild(limits: ReadLimits): Promise<Child> {
  const child = forkReader(entryUrl(import.meta.url, './child.js'), {
    heapMib: Math.floor((limits.memoryBytes * HEAP_SHARE) / MIB),
    stderr: 'pipe',
    flags: NODE_FLAGS,
    env: { ...MALLOC, ...(process.env.KS_FAULT === undefined ? {} : { KS_FAULT: process.env.KS_FAULT }) },
  })
  const errors = collect(child)
  await new Promise<void>((resolve, reject) => {
    const fail = (detail: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      reject(new Error(`the reading process did not start: ${detail}`))
    }
    const timer = setTimeout(() => fail('no answer'), START_MS)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code, signal) => fail(`${signal ?? `exit code ${code}`} ${errors.text().slice(-500)}`.trim()))
    child.once('message', () => {
      clearTimeout(timer)
      child.removeAllListeners('exit')
      child.removeAllListeners('error')
      resolve()
    })
  })
  lowerPriority(child.pid)
  child.on('error', () => undefined)
  killAtExit(child)
  rest(child)
  return { pid: child.pid ?? 0, run: (...args) => runBatch(child, limits, errors, ...args), kill: () => end(child) }
}

function end(child: ChildProcess): void {
  child.kill('SIGKILL')
}

/** An idle child does not keep its parent alive. */
function rest(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

function runBatch(
  child: ChildProcess,
  limits: ReadLimits,
  errors: { text(): string },
  requests: CompileRequest[],
  stallMs: number,
  onResults: (start: number, results: CompileResult[]) => void,
  inside?: ContainedSink,
): Promise<BatchEnd> {
  return new Promise((resolve, reject) => {
    let reason: 'timeout' | 'memory' | undefined
    let started = false
    const parts = new Map<number, DocumentPart[]>()
    const stop = (why: 'timeout' | 'memory'): void => {
      reason ??= why
      end(child)
    }
    const memory = setInterval(() => {
      if (residentBytes(child.pid) > limits.memoryBytes) stop('memory')
    }, WATCH_MS)
    let stall = setTimeout(() => stop('timeout'), stallMs)
    const letGo = (): void => {
      clearInterval(memory)
      clearTimeout(stall)
      child.off('message', onMessage)
      child.off('exit', onExit)
      rest(child)
    }
    const finish = (result: BatchEnd): void => {
      letGo()
      resolve(result)
    }
    const isOver = () => child.exitCode !== null || child.signalCode !== null || !child.connected
    const take = async (report: Extract<Report, { kind: 'contained' | 'contained-end' }>): Promise<void> => {
      clearTimeout(stall)
      if (report.kind === 'contained') await inside?.piece(report.index, report.bytes)
      else await inside?.end(report.index, report.kept)
      if (isOver()) return
      stall = setTimeout(() => stop('timeout'), stallMs)
      const taken: Taken = { kind: 'taken' }
      child.send(taken, () => undefined)
    }
    const giveUp = (error: unknown): void => {
      letGo()
      end(child)
      reject(error)
    }
    const onMessage = (report: Report): void => {
      if (report.kind === 'started') started = true
      if (report.kind === 'contained' || report.kind === 'contained-end') return void take(report).catch(giveUp)
      if (report.kind === 'part' || report.kind === 'results') {
        clearTimeout(stall)
        stall = setTimeout(() => stop('timeout'), stallMs)
      }
      if (report.kind === 'part') parts.set(report.index, [...(parts.get(report.index) ?? []), report.part])
      if (report.kind === 'results')
        onResults(
          report.start,
          report.results.map((result, place) => withParts(result, parts.get(report.start + place))),
        )
      if (report.kind === 'done') finish({ end: 'done', rss: report.rss })
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      const said = errors.text()
      const outOfMemory = /heap out of memory|Array buffer allocation failed/.test(said)
      if (reason !== undefined || outOfMemory) finish({ end: reason ?? 'memory' })
      else finish({ end: 'died', detail: signal ?? `exit code ${code}`, started })
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      return finish({ end: 'died', detail: child.signalCode ?? `exit code ${child.exitCode}`, started })
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
    child.ref()
    child.channel?.ref()
    const batch: Batch = { requests, limits }
    child.send(batch, () => undefined)
  })
}

/** A document with the parts that came before its result. */
function withParts(result: CompileResult, parts: readonly DocumentPart[] = []): CompileResult {
  if (!result.ok || parts.length === 0) return result
  const { nodes, assets, ...rest } = result.document
  return {
    ok: true,
    document: {
      ...rest,
      nodes: [...parts.flatMap((part) => part.nodes), ...nodes],
      assets: [...parts.flatMap((part) => part.assets), ...assets],
    },
  }
}

/** Keeps the end of what the child writes to its error output. */
function collect(child: ChildProcess): { text(): string } {
  let text = ''
  child.stderr?.setEncoding('utf8')
  child.stderr?.on('data', (chunk: string) => {
    text = (text + chunk).slice(-MAX_STDERR)
  })
  // The pipe alone must not keep the parent alive.
  if (child.stderr !== null && 'unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref()
  return { text: () => text }
}

/** Resident memory of a process. Linux only; elsewhere the heap limit alone holds, and this is 0. */
export function residentBytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
    return Number(kib ?? 0) * 1024
  } catch {
    return 0
  }
}
