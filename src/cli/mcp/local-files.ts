import type { Client } from '../../client/client.js'
import type { ProtectedFiles } from '../../local/protected-files.js'
import type { IngestedFile, IngestRequest, LocalFileIngester } from '../../mcp/host.js'
import { usageError } from '../cli-error.js'
import { type ConfiguredService, toServiceKey } from '../contexts.js'
import { createIngestCounts } from '../ingest/counts.js'
import { HashCache } from '../ingest/hash-cache.js'
import { nameFiles } from '../ingest/name-files.js'
import { FileRecorder } from '../ingest/recorder.js'
import { RecordPrinter } from '../ingest/records.js'
import { RootNames } from '../ingest/root-names.js'
import { ingest } from '../ingest/run.js'
import { recordSkipped, toSkipReport } from '../ingest/skipped-files.js'
import { walk } from '../ingest/walk.js'

const PROGRESS_INTERVAL_MS = 500
const CONCURRENT_UPLOADS = 4

interface LocalFilesOptions {
  client(): Promise<Client>
  service: ConfiguredService
  stateDir: string
  /** Patterns that the settings exclude. */
  ignore: string[]
  protectedFiles: ProtectedFiles
}

/** Creates the tool's access to files of this machine, which ingests them as `ks ingest` does. */
export function createLocalFiles(options: LocalFilesOptions): LocalFileIngester {
  return { ingest: (request) => ingestPaths(request, options) }
}

async function ingestPaths(request: IngestRequest, options: LocalFilesOptions): Promise<IngestedFile[]> {
  const { paths, spaceId, wait, signal } = request
  const { service, stateDir, ignore, protectedFiles } = options
  const client = await options.client()
  // Patterns are not expanded: they could match outside of the allowed folders.
  const found = walk(paths, { glob: [], ignore, ignoreFiles: true, hidden: false, protectedFiles })
  const [firstFailure] = found.failed
  if (firstFailure !== undefined && found.files.length === 0)
    throw usageError(`${firstFailure.filename}: ${firstFailure.reason}`)
  const serviceKey = toServiceKey(service)
  const walked = await nameFiles(found, {
    client,
    spaceId,
    names: new RootNames(stateDir, serviceKey, spaceId),
    isRemembered: true,
    // The reply lists the names.
    onNew: () => undefined,
  })
  const counts = createIngestCounts(walked.files.length)
  const printer = new RecordPrinter(undefined)
  const timer = setInterval(() => {
    request.onProgress(counts.unchanged + (wait ? counts.published + counts.failed : counts.filesSent), counts.total)
  }, PROGRESS_INTERVAL_MS)
  try {
    await ingest(walked.files, {
      client,
      spaceId,
      signal,
      wait,
      concurrency: CONCURRENT_UPLOADS,
      failFast: false,
      dryRun: false,
      cache: new HashCache(stateDir, `${serviceKey}\n${spaceId}`),
      recorder: service.kind === 'local' ? new FileRecorder(client, spaceId) : undefined,
      printer,
      counts,
    })
  } finally {
    clearInterval(timer)
  }
  const records = [
    ...printer.all,
    ...walked.skipped.map(({ filename, reason }) => ({ filename, reason, status: 'skipped' as const })),
    ...walked.failed.map(({ filename, reason }) => ({ filename, reason, status: 'failed' as const })),
  ]
  await recordSkipped(client, spaceId, toSkipReport(records, walked))
  return records
}
