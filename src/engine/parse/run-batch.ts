import type { ChildProcess } from 'node:child_process'
import { residentBytes } from '../../lib/resident-bytes.js'
import type { CompileRequest, CompileResult, ContainedSink, ReadingProgress } from './compiled.js'
import { FileFeed } from './file-feed.js'
import type { ReadLimits } from './limits.js'
import type { Batch, DocumentPart, Report, Taken } from './messages.js'
import { meterOf } from './meter.js'

/** Interval of the checks of the child's memory and time. */
const WATCH_MS = 250

/** The last progress report of a process: index of the file in the batch, and its progress. */
interface Reached {
  index: number
  progress: ReadingProgress
}

/** What a process has used for an unfinished batch. */
export interface Used {
  processorMs: number
  /** maximum of resident memory */
  memoryBytes: number
}

/** How a batch ended. Except for `done`, the child is gone. */
export type BatchEnd =
  | { end: 'done'; rss: number }
  /** no result arrived within the allowed processor time or wall time */
  | { end: 'timeout'; of: 'processor' | 'clock'; reached: Reached | undefined; used: Used }
  | { end: 'memory'; reached: Reached | undefined; used: Used }
  /** `started` is false when it was gone before it had the batch */
  | { end: 'died'; detail: string; started: boolean }

/** A batch, its limit between two results, and its callbacks. */
export interface BatchRun {
  requests: CompileRequest[]
  /** processor time without a result after which the batch is aborted */
  processorMs: number
  onResults: (start: number, results: CompileResult[]) => void
  onProgress: (index: number, progress: ReadingProgress) => void
  /** receives the contained files; if it rejects, so does the run, and the child is killed */
  inside: ContainedSink | undefined
}

/** Makes a child read a batch, and kills the child when it exceeds a limit. */
export function runBatch(
  child: ChildProcess,
  limits: ReadLimits,
  said: () => string,
  { requests, processorMs, onResults, onProgress, inside }: BatchRun,
): Promise<BatchEnd> {
  return new Promise((resolve, reject) => {
    let ended: BatchEnd | undefined
    let started = false
    let reached: Reached | undefined
    const parts = new Map<number, DocumentPart[]>()
    const meter = meterOf(child.pid)
    const feed = new FileFeed(child, requests)
    const stop = (why: BatchEnd): void => {
      ended ??= why
      child.kill('SIGKILL')
    }
    let used: Used = { processorMs: 0, memoryBytes: 0 }
    const watch = setInterval(() => {
      const spent = meter.look()
      const resident = residentBytes(child.pid)
      used = { processorMs: spent.processorMs, memoryBytes: Math.max(used.memoryBytes, resident) }
      if (resident > limits.memoryBytes) stop({ end: 'memory', reached, used })
      if (spent.processorMs > processorMs) stop({ end: 'timeout', of: 'processor', reached, used })
      if (spent.wallMs > limits.wallMs) stop({ end: 'timeout', of: 'clock', reached, used })
    }, WATCH_MS)
    const letGo = (): void => {
      clearInterval(watch)
      feed.close()
      child.off('message', onMessage)
      child.off('exit', onExit)
      rest(child)
    }
    const finish = (result: BatchEnd): void => {
      letGo()
      resolve(result)
    }
    const take = async (report: Extract<Report, { kind: 'contained' | 'contained-end' }>): Promise<void> => {
      if (report.kind === 'contained') await inside?.piece(report.index, report.bytes)
      else await inside?.end(report.index, report.kept)
      // The time that it took to store them does not count.
      meter.restart()
      const taken: Taken = { kind: 'taken' }
      if (child.connected) child.send(taken, () => undefined)
    }
    const giveUp = (error: unknown): void => {
      letGo()
      child.kill('SIGKILL')
      reject(error)
    }
    const onMessage = (report: Report): void => {
      if (report.kind === 'started') started = true
      if (report.kind === 'file') feed.answer(report)
      if (report.kind === 'contained' || report.kind === 'contained-end') return void take(report).catch(giveUp)
      if (report.kind === 'part' || report.kind === 'results') meter.restart()
      if (report.kind === 'part') parts.set(report.index, [...(parts.get(report.index) ?? []), report.part])
      if (report.kind === 'progress') {
        meter.told(report.processorMs)
        reached = { index: report.index, progress: report.progress }
        onProgress(report.index, report.progress)
      }
      if (report.kind === 'results')
        onResults(
          report.start,
          report.results.map((result, place) => withParts(result, parts.get(report.start + place))),
        )
      if (report.kind === 'done') finish({ end: 'done', rss: report.rss })
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      const outOfMemory = /heap out of memory|Array buffer allocation failed/.test(said())
      if (ended === undefined && outOfMemory) ended = { end: 'memory', reached, used }
      finish(ended ?? { end: 'died', detail: signal ?? `exit code ${code}`, started })
    }
    if (child.exitCode !== null || child.signalCode !== null) {
      return finish({ end: 'died', detail: child.signalCode ?? `exit code ${child.exitCode}`, started })
    }
    child.on('message', onMessage)
    child.on('exit', onExit)
    child.ref()
    child.channel?.ref()
    const batch: Batch = { requests: requests.map(({ path: _, root: __, ...request }) => request), limits }
    child.send(batch, () => undefined)
  })
}

/** An idle child does not keep its parent alive. */
export function rest(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** Adds the parts that arrived before its result to a document. */
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
