import { openBare } from './bare.js'
import type { PeerEngine } from './engine.js'
import { openLance } from './lancedb.js'
import { openOurs } from './ours.js'
import { openSqliteVec } from './sqlite-vec.js'
import { BATCH, type BenchDocument } from './workload.js'

/** An empty engine in this process. @param dimension numbers of a vector */
export async function openEngine(name: string, folder: string, dimension: number): Promise<PeerEngine> {
  switch (name) {
    case 'ours':
      return openOurs(folder)
    case 'lancedb':
      return openLance(folder, 'default')
    case 'lancedb-our-width':
      return openLance(folder, 'ours')
    case 'lancedb-flat':
      return openLance(folder, 'none')
    case 'sqlite-vec':
      return openSqliteVec(folder, dimension)
    case 'bare':
      return openBare(folder, dimension)
    default:
      throw new Error(`there is no engine ${name}`)
  }
}

/** Stores documents batch by batch, and waits until all are found. */
export async function fill(engine: PeerEngine, documents: BenchDocument[]): Promise<void> {
  for (let start = 0; start < documents.length; start += BATCH) await engine.add(documents.slice(start, start + BATCH))
  await engine.waitUntilSearchable()
}
