import type { ChildProcess } from 'node:child_process'
import { readResidentBytes } from '../../lib/resident-bytes.js'
import type { CompileRequest, CompileResult, ContainedSink, ReadingProgress } from '../store/compiled.js'
import { FileFeed } from './file-feed.js'
import type { ReadLimits } from './limits.js'
import type { ChildReport, DocumentPart, ReadBatch, TakenMessage } from './messages.js'
import { createMeter } from './meter.js'

/** Interval of the checks of the child's memory and time. */
const CHECK_INTERVAL_MS = 250

/** The last progress report of a process: index of the file in the batch, and its progress. */
interface FileProgress {
  index: number
  progress: ReadingProgress
}

/** What a process has used for an unfinished batch. */
export interface ProcessUsage {
  processorMs: number
  /** maximum of resident memory */
  memoryBytes: number
}

/** How a batch ended. Except for `done`, the child is gone. */
export type BatchOutcome =
  | { end: 'done'; rss: number }
  /** no result arrived within the allowed processor time or wall time */
  | { end: 'timeout'; clock: 'processor' | 'wall'; reached: FileProgress | undefined; used: ProcessUsage }
  | { end: 'memory'; reached: FileProgress | undefined; used: ProcessUsage }
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
  containedSink: ContainedSink | undefined
}

/** Makes a child read a batch, and kills the child when it exceeds a limit. */
export function runBatch(
  child: ChildProcess,
  limits: ReadLimits,
  getStderr: () => string,
  { requests, processorMs, onResults, onProgress, containedSink }: BatchRun,
): Promise<BatchOutcome> {
  return new Promise((resolve, reject) => {
    let ended: BatchOutcome | undefined
    let started = false
    let reached: FileProgress | undefined
    const parts = new Map<number, DocumentPart[]>()
    const meter = createMeter(child.pid)
    const feed = new FileFeed(child, requests)
    const stop = (outcome: BatchOutcome): void => {
      ended ??= outcome
      child.kill('SIGKILL')
    }
    let used: ProcessUsage = { processorMs: 0, memoryBytes: 0 }
    const watch = setInterval(() => {
      const usage = meter.sample()
      const resident = readResidentBytes(child.pid)
      used = { processorMs: usage.processorMs, memoryBytes: Math.max(used.memoryBytes, resident) }
      if (resident > limits.memoryBytes) stop({ end: 'memory', reached, used })
      if (usage.processorMs > processorMs) stop({ end: 'timeout', clock: 'processor', reached, used })
      if (usage.wallMs > limits.wallMs) stop({ end: 'timeout', clock: 'wall', reached, used })
    }, CHECK_INTERVAL_MS)
    const cleanUp = (): void => {
      clearInterval(watch)
      feed.close()
      child.off('message', onMessage)
      child.off('exit', onExit)
      unrefChild(child)
    }
    const finish = (result: BatchOutcome): void => {
      cleanUp()
      resolve(result)
    }
    const takeContained = async (
      report: Extract<ChildReport, { kind: 'contained' | 'contained-end' }>,
    ): Promise<void> => {
      if (report.kind === 'contained') await containedSink?.write(report.index, report.bytes)
      else await containedSink?.end(report.index, report.kept)
      // The time that it took to store them does not count.
      meter.restart()
      const taken: TakenMessage = { kind: 'taken' }
      if (child.connected) child.send(taken, () => undefined)
    }
    const fail = (error: unknown): void => {
      cleanUp()
      child.kill('SIGKILL')
      reject(error)
    }
    const onMessage = (report: ChildReport): void => {
      if (report.kind === 'started') started = true
      if (report.kind === 'file') feed.reply(report)
      if (report.kind === 'contained' || report.kind === 'contained-end') return void takeContained(report).catch(fail)
      if (report.kind === 'part' || report.kind === 'results') meter.restart()
      if (report.kind === 'part') parts.set(report.index, [...(parts.get(report.index) ?? []), report.part])
      if (report.kind === 'progress') {
        meter.reportProcessorMs(report.processorMs)
        reached = { index: report.index, progress: report.progress }
        onProgress(report.index, report.progress)
      }
      if (report.kind === 'results')
        onResults(
          report.start,
          report.results.map((result, offset) => addParts(result, parts.get(report.start + offset))),
        )
      if (report.kind === 'done') finish({ end: 'done', rss: report.rss })
    }
    const onExit = (code: number | null, signal: NodeJS.Signals | null): void => {
      const outOfMemory = /heap out of memory|Array buffer allocation failed/.test(getStderr())
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
    const batch: ReadBatch = { requests: requests.map(({ path: _, root: __, ...request }) => request), limits }
    child.send(batch, () => undefined)
  })
}

/** An idle child does not keep its parent alive. */
export function unrefChild(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** Adds the parts that arrived before its result to a document. */
function addParts(result: CompileResult, parts: readonly DocumentPart[] = []): CompileResult {
  if (!result.ok || parts.length === 0) return result
  const { nodes, assets, ...remaining } = result.document
  return {
    ok: true,
    document: {
      ...remaining,
      nodes: [...parts.flatMap((part) => part.nodes), ...nodes],
      assets: [...parts.flatMap((part) => part.assets), ...assets],
    },
  }
}
