import type { Client } from '../../client/client.js'
import type { ProtectedFiles } from '../../local/protected-files.js'
import type { IngestedFile, IngestRequest, LocalFiles } from '../../mcp/host.js'
import { usageError } from '../cli-error.js'
import type { Place } from '../contexts.js'
import { newCounts } from '../ingest/counts.js'
import { HashCache } from '../ingest/hash-cache.js'
import { FileRecorder } from '../ingest/recorder.js'
import { RecordPrinter } from '../ingest/records.js'
import { ingest } from '../ingest/run.js'
import { walk } from '../ingest/walk.js'

const TELL_MS = 500
const UPLOADS = 4

interface Options {
  client(): Promise<Client>
  place: Place
  stateDir: string
  /** Patterns that the settings exclude. */
  ignore: string[]
  own: ProtectedFiles
}

/** Ingests files of this machine as `ks ingest` does. */
export function localFiles(options: Options): LocalFiles {
  return { ingest: (request) => ingestFiles(request, options) }
}

async function ingestFiles(request: IngestRequest, options: Options): Promise<IngestedFile[]> {
  const { paths, spaceId, wait, signal } = request
  const { place, stateDir, ignore, own } = options
  const client = await options.client()
  // No patterns here: they could match outside of the allowed folders.
  const found = walk(paths, { glob: [], ignore, ignoreFiles: true, hidden: false, own })
  const [lost] = found.failed
  if (lost !== undefined && found.files.length === 0) throw usageError(`${lost.filename}: ${lost.reason}`)
  const counts = newCounts(found.files.length)
  const printer = new RecordPrinter(undefined)
  const where = place.kind === 'local' ? place.dataDir : place.url
  const timer = setInterval(() => {
    request.progress(counts.unchanged + (wait ? counts.published + counts.failed : counts.sent), counts.total)
  }, TELL_MS)
  try {
    await ingest(found.files, {
      client,
      spaceId,
      signal,
      wait,
      concurrency: UPLOADS,
      failFast: false,
      dryRun: false,
      cache: new HashCache(stateDir, `${where}\n${spaceId}`),
      recorder: place.kind === 'local' ? new FileRecorder(client, spaceId) : undefined,
      printer,
      counts,
    })
  } finally {
    clearInterval(timer)
  }
  return [
    ...printer.all,
    ...found.skipped.map((file) => ({ ...file, status: 'skipped' })),
    ...found.failed.map((file) => ({ ...file, status: 'failed' })),
  ]
}
