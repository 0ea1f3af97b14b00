import { ApiError } from '../../client/errors.js'
import type { SkippedFile } from '../../contract/gateway/documents.js'
import { LIMITS } from '../../contract/limits.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { IngestRecord } from '../json-output/documents.js'
import type { IngestService } from './recovering-service.js'
import type { WalkResult } from './walk.js'

/** The files that a run skipped and inspected. */
export interface SkipReport {
  skipped: readonly { filename: string; reason?: string }[]
  /** Names of other files that the run inspected. */
  inspected: ReadonlySet<string>
  /** Names of folders that were walked completely: other names below them are no longer skipped. */
  folders: readonly string[]
}

/** The files that are no documents, also those that could not be read. */
export function toSkipReport(records: readonly IngestRecord[], { roots }: WalkResult): SkipReport {
  const isSkipped = ({ status, documentId }: IngestRecord) =>
    documentId === undefined && (status === 'skipped' || status === 'failed')
  return {
    skipped: records.filter(isSkipped),
    inspected: new Set(records.map(({ filename }) => filename)),
    folders: roots.flatMap(({ name, isWalked }) => (isWalked ? [name] : [])),
  }
}

/** Records skipped files in the space, and forgets earlier ones that are no longer skipped. */
export async function recordSkipped(
  client: Pick<IngestService, 'request'>,
  spaceId: string,
  report: SkipReport,
): Promise<void> {
  const { skipped, inspected, folders } = report
  const names = new Set(skipped.map(({ filename }) => filename))
  const isBelow = (name: string) => folders.some((folder) => folder === '' || name.startsWith(`${folder}/`))
  try {
    const known = await listSkipped(client, spaceId)
    const forget = known.flatMap(({ filename, documentId }) => {
      const isOld = documentId === undefined && !names.has(filename) && (inspected.has(filename) || isBelow(filename))
      return isOld ? [filename] : []
    })
    const files = skipped.flatMap(({ filename, reason = 'no reason given' }) =>
      filename.length > LIMITS.filename ? [] : [{ filename, reason: reason.slice(0, LIMITS.skipReason) }],
    )
    for (let start = 0; start < Math.max(files.length, forget.length); start += LIMITS.localFiles) {
      const end = start + LIMITS.localFiles
      await client.request('POST /knowledge-spaces/{id}/skipped-files', {
        path: { id: spaceId },
        body: { files: files.slice(start, end), forget: forget.slice(start, end) },
      })
    }
  } catch (error) {
    // Daemons of earlier versions have no such list; a busy one has reported the files themselves.
    if (!(error instanceof ApiError)) throw error
  }
}

/** All files that a space lists as skipped. */
export async function listSkipped(client: Pick<IngestService, 'request'>, spaceId: string): Promise<SkippedFile[]> {
  const files: SkippedFile[] = []
  let after: string | undefined
  do {
    const query = { limit: String(LIMITS.localFilesPage.max), ...omitUndefined({ after }) }
    const page = await client.request('GET /knowledge-spaces/{id}/skipped-files', { path: { id: spaceId }, query })
    files.push(...page.items)
    after = page.nextAfter
  } while (after !== undefined)
  return files
}
