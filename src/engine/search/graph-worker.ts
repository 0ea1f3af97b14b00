import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import hnswlib from 'hnswlib-node'
import type { GraphBuildJob } from './graph-build.js'
import { computeFileFacts, finishGraph, GRAPH_FILE } from './graph-files.js'
import { readRow } from './scan.kernel.js'

/** Entry of the thread that builds one graph in the background. It ends when the graph is on disk. */

/** Links per point and search width of a build: engine measurements found recall 1.0 at half the time of width 200. */
const LINKS = 16
const BUILD_WIDTH = 100

async function buildGraphFile(job: GraphBuildJob): Promise<void> {
  const graph = new hnswlib.HierarchicalNSW('ip', job.dimension)
  if (job.base === undefined) {
    graph.initIndex(Math.max(1, job.rows.length), LINKS, BUILD_WIDTH)
  } else {
    const facts = await computeFileFacts(job.base.path)
    if (facts.sha256 !== job.base.facts.sha256) throw new Error(`${job.base.path} is damaged`)
    graph.readIndexSync(job.base.path)
    graph.resizeIndex(graph.getCurrentCount() + job.rows.length)
  }
  const point = new Array<number>(job.dimension).fill(0)
  for (const row of job.rows) {
    const block = job.blocks[Math.floor(row / job.blockRows)]
    if (block === undefined) throw new Error(`row ${row} has no block`)
    readRow(block, (row % job.blockRows) * job.dimension, point)
    graph.addPoint(point, row)
  }
  graph.writeIndexSync(join(job.dir, GRAPH_FILE))
  await finishGraph(job.dir, { vectorSpace: job.vectorSpace, dimension: job.dimension }, job.points)
}

const job: GraphBuildJob = workerData
await buildGraphFile(job)
parentPort?.postMessage('built')
