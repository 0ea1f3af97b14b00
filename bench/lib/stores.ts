import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon } from './daemon.js'
import { measurePeaks, type Peaks } from './process-memory.js'
import { waitUntilSettled } from './settled.js'
import { fillSpace, type UploadFile } from './upload.js'

/** The data directory of a stopped daemon with one space. */
export interface Store {
  dataDir: string
  spaceId: string
  filling?: Filling
}

export interface Filling {
  /** from the first upload until everything is published, and until the daemon is idle */
  seconds: number
  settledSeconds: number
  published: number
  peaks: Peaks
}

export interface FillContent {
  passages: { length: number }
  /** of the store's folder; the number of passages by default */
  name?: string
  files(): Iterable<UploadFile>
}

const SETTLE_TIMEOUT_MS = 7_200_000
/** training and building a graph start some seconds after their cause */
const QUIET_MS = 3000

/**
 * Fills a store over HTTP, or returns the one that an earlier run left in the folder.
 *
 * @param program the `bin/ksd.js` of another checkout
 */
export async function loadOrFillStore(
  filler: FillContent,
  { folder, program }: { folder: string; program?: string },
): Promise<Store> {
  const dir = join(folder, filler.name ?? String(filler.passages.length))
  const dataDir = join(dir, 'data')
  const factsPath = join(dir, 'space.json')
  if (existsSync(factsPath)) return { dataDir, ...readStoreFacts(factsPath) }
  mkdirSync(dir, { recursive: true })
  const daemon = await startDaemon(dataDir, {}, program)
  try {
    const { client } = daemon
    const started = performance.now()
    const getSeconds = () => (performance.now() - started) / 1000
    const [{ spaceId, seconds }, peaks] = await measurePeaks(client, async () => {
      const filled = { ...(await fillSpace(client, 'passages', filler.files())), seconds: getSeconds() }
      await waitUntilSettled(client, QUIET_MS, SETTLE_TIMEOUT_MS)
      return filled
    })
    const settledSeconds = getSeconds() - QUIET_MS / 1000
    const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: spaceId } })
    const filled = { spaceId, filling: { seconds, settledSeconds, published: projections.fts.ready, peaks } }
    writeFileSync(factsPath, JSON.stringify(filled))
    return { dataDir, ...filled }
  } finally {
    await daemon.stop()
  }
}

function readStoreFacts(path: string): Omit<Store, 'dataDir'> {
  const { spaceId, filling } = JSON.parse(readFileSync(path, 'utf8'))
  return { spaceId, ...(filling === undefined ? {} : { filling }) }
}

/** Copies a store, so that the original is not changed. @returns the data directory of the copy */
export function copyStore({ dataDir }: Store, to: string): string {
  // a copy of a link would still be the original
  cpSync(dataDir, to, { recursive: true, preserveTimestamps: true, dereference: true })
  return to
}
