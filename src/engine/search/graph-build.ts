import { Worker } from 'node:worker_threads'
import { entryUrl } from '../../lib/entry.js'
import type { FileFacts } from './graph-files.js'

/** What a build thread needs. Blocks are shared memory: nothing is copied, and rows in use do not change. */
export interface GraphBuild {
  /** directory to fill, already there */
  dir: string
  vectorSpace: string
  dimension: number
  blockRows: number
  /** vectors as halves */
  blocks: Uint16Array[]
  /** rows to add, in order; row numbers become labels */
  rows: Uint32Array
  /** encoded table of all points the new graph has */
  points: Uint8Array
  /** graph file to start from; absent = from nothing */
  base?: { path: string; facts: FileFacts }
}

/** One build at a time in the process: each holds a whole graph in memory. */
let last: Promise<unknown> = Promise.resolve()

/**
 * Builds a graph in a thread of its own, after the builds asked for before.
 *
 * @returns a promise that rejects when the build failed, and a way to stop it
 */
export function buildGraph(job: GraphBuild): { done: Promise<void>; stop: () => void } {
  let stopped = false
  let worker: Worker | undefined
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      if (stopped) throw new Error('stopped before it began')
      worker = new Worker(entryUrl(import.meta.url, './graph-worker.js'), { workerData: job, env: {}, execArgv: [] })
      let built = false
      worker.on('message', () => {
        built = true
      })
      worker.on('error', reject)
      worker.on('exit', (code) => (built ? resolve() : reject(new Error(`the build thread ended with code ${code}`))))
    })
  const done = last.then(run, run)
  last = done
  const stop = () => {
    stopped = true
    worker?.terminate().catch(() => {})
  }
  return { done, stop }
}
