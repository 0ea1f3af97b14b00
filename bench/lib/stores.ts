import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon } from './daemon.js'
import { type Peaks, withPeaks } from './process-memory.js'
import { untilSettled } from './settled.js'
import { fillSpace, type UploadFile } from './upload.js'

/** The data directory of a stopped daemon with one space of a corpus. */
export interface Store {
  dataDir: string
  spaceId: string
  /** of filling it, in this run or the earlier one that filled it */
  filling?: Filling
}

export interface Filling {
  /** from the first upload until all is published, and until no work is left behind it */
  seconds: number
  settledSeconds: number
  published: number
  peaks: Peaks
}

/** What a store is filled with; the name of its folder where it is not the number of its passages. */
export interface Filler {
  passages: { length: number }
  name?: string
  files(): Iterable<UploadFile>
}

const SETTLE_LIMIT_MS = 7_200_000
/** a model is trained and a graph built some seconds after there is reason to */
const QUIET_MS = 3000

/**
 * Fills a store over HTTP, or takes that which an earlier run left in the same folder, under its name.
 *
 * @param program the daemon to fill it with, in place of this checkout's
 */
export async function storeOf(
  filler: Filler,
  { folder, program }: { folder: string; program?: string },
): Promise<Store> {
  const dir = join(folder, filler.name ?? String(filler.passages.length))
  const dataDir = join(dir, 'data')
  const facts = join(dir, 'space.json')
  if (existsSync(facts)) return { dataDir, ...factsIn(facts) }
  mkdirSync(dir, { recursive: true })
  const daemon = await startDaemon(dataDir, {}, program)
  try {
    const { client } = daemon
    const started = performance.now()
    const since = () => (performance.now() - started) / 1000
    const [{ spaceId, seconds }, peaks] = await withPeaks(client, async () => {
      const filled = { ...(await fillSpace(client, 'passages', filler.files())), seconds: since() }
      await untilSettled(client, QUIET_MS, SETTLE_LIMIT_MS)
      return filled
    })
    const settledSeconds = since() - QUIET_MS / 1000
    const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: spaceId } })
    const filled = { spaceId, filling: { seconds, settledSeconds, published: projections.fts.ready, peaks } }
    writeFileSync(facts, JSON.stringify(filled))
    return { dataDir, ...filled }
  } finally {
    await daemon.stop()
  }
}

function factsIn(path: string): Omit<Store, 'dataDir'> {
  const { spaceId, filling } = JSON.parse(readFileSync(path, 'utf8'))
  return { spaceId, ...(filling === undefined ? {} : { filling }) }
}

/** A copy to work on: the store itself stays as it was filled. @returns its data directory */
export function copyStore({ dataDir }: Store, to: string): string {
  // a link to a store is no copy of it
  cpSync(dataDir, to, { recursive: true, preserveTimestamps: true, dereference: true })
  return to
}
