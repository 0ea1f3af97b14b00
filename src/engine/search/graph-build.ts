import { Worker } from 'node:worker_threads'
import { resolveEntryUrl } from '../../lib/entry.js'
import type { GraphFileFacts } from './graph-files.js'

/** Input of a build thread. Blocks are shared memory: nothing is copied, and rows in use do not change. */
export interface GraphBuildJob {
  /** existing directory to fill */
  dir: string
  vectorSpace: string
  dimension: number
  blockRows: number
  /** vectors as float16 bits */
  blocks: Uint16Array[]
  /** rows to add, in order; row numbers become labels of the graph */
  rows: Uint32Array
  /** encoded table of all points of the new graph */
  points: Uint8Array
  /** graph file to extend; absent = build from nothing */
  base?: { path: string; facts: GraphFileFacts }
}

/** The process runs one build at a time: each has a complete graph in memory. */
let lastBuild: Promise<unknown> = Promise.resolve()

/**
 * Builds a graph in a separate thread, after the builds that were requested before.
 *
 * @returns a promise that rejects when the build fails, and a function that stops it
 */
export function buildGraph(job: GraphBuildJob): { done: Promise<void>; stop: () => void } {
  let stopped = false
  let worker: Worker | undefined
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (stopped) throw new Error('the build was stopped before it began')
      worker = new Worker(resolveEntryUrl(import.meta.url, './graph-worker.js'), {
        workerData: job,
        env: {},
        execArgv: [],
      })
      let built = false
      worker.on('message', () => {
        built = true
      })
      worker.on('error', reject)
      worker.on('exit', (code) => (built ? resolve() : reject(new Error(`the build thread ended with code ${code}`))))
    })
  const done = lastBuild.then(run, run)
  lastBuild = done
  const stop = () => {
    stopped = true
    worker?.terminate().catch(() => {})
  }
  return { done, stop }
}
