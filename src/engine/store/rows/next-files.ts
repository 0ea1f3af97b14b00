import { readClock, sql, type Write } from '../program.js'
import { type DocumentRow, type NextFile, withNewestFile } from './documents.js'
import { insertJobs, type JobRow } from './jobs.js'
import { markUnreferenced } from './objects.js'
import { removeUnpublishedVersions } from './versions.js'

/*
 * Newer files of documents. An edited file does not make a new document: the document keeps its id and its published
 * file, and names the newer one until the job that compiles it is published.
 */

/** A document and its newer file. */
export interface DocumentEdit {
  document: DocumentRow
  file: NextFile
}

/** Leftovers of edits that the caller cleans up. */
export interface EditLeftovers {
  /** the index log's last entry for removed nodes; 0 if there are none */
  seq: number
  /** keys of newer files that are replaced before their publication */
  replacedKeys: string[]
}

interface QueuedEdits extends EditLeftovers {
  /** the documents with their newer files */
  documents: DocumentRow[]
  /** the open job of each edit */
  jobs: JobRow[]
}

/** Gives documents newer files and compiles them: an open job starts over, and documents without one get one. */
export function* queueEdits(
  space: { key: number; tenant: string },
  edits: readonly DocumentEdit[],
): Write<QueuedEdits> {
  if (edits.length === 0) return { documents: [], jobs: [], seq: 0, replacedKeys: [] }
  const documents = edits.map(({ document }) => document)
  const replacedKeys = documents.flatMap(({ next_object_key: key }) => key ?? [])
  const { restarted, seq } = yield* restartOpenJobs(documents)
  const inserted = yield* insertJobs(
    space,
    documents.filter(({ key }) => !restarted.has(key)),
  )
  const jobs = new Map([...restarted.values(), ...inserted].map((job) => [job.doc_key, job]))
  const changed = yield* setNextFiles(edits)
  yield* markUnreferenced(space.tenant, replacedKeys)
  return { documents: changed, jobs: documents.flatMap(({ key }) => jobs.get(key) ?? []), seq, replacedKeys }
}

/**
 * Gives documents newer files, in place of newer ones that are not published yet. A trigger removes the text that was
 * recognised in an earlier file.
 */
function* setNextFiles(edits: readonly DocumentEdit[]): Write<DocumentRow[]> {
  const now = yield* readClock()
  const rows = yield* sql.returningEach<DocumentRow>(
    `UPDATE documents SET next_object_key = ?, next_file = ?, updated_at = ? WHERE key = ? AND deleted_at IS NULL
     RETURNING *`,
    edits.map(({ document, file: { objectKey, ...file } }) => [objectKey, JSON.stringify(file), now, document.key]),
  )
  return rows.flat()
}

/**
 * Makes the newer files of documents, which are published now, their files. @returns the keys of the replaced files
 */
export function* adoptNextFiles(documents: readonly { key: number }[]): Write<string[]> {
  const rows = yield* sql.getEach<DocumentRow>(
    'SELECT * FROM documents WHERE key = ? AND next_object_key IS NOT NULL',
    documents.map(({ key }) => [key]),
  )
  const edited = rows.flatMap((row) => row ?? [])
  const now = yield* readClock()
  yield* sql.runEach(
    `UPDATE documents SET object_key = ?, sha256 = ?, size_bytes = ?, mime_type = ?, metadata = ?, received_at = ?,
       next_object_key = NULL, next_file = NULL WHERE key = ?`,
    edited.map(withNewestFile).map((file) => {
      const { object_key, sha256, size_bytes, mime_type, metadata, key } = file
      return [object_key, sha256, size_bytes, mime_type, metadata, now, key]
    }),
  )
  const [first] = edited
  const replacedKeys = edited.map(({ object_key }) => object_key)
  if (first !== undefined) yield* markUnreferenced(first.tenant, replacedKeys)
  return replacedKeys
}

/**
 * Starts the open jobs of documents over, since their files have changed: a claim on one ends, and what was stored for it
 * is removed.
 *
 * @returns those jobs by the keys of their documents, and the index log's last entry for removed nodes
 */
function* restartOpenJobs(
  documents: readonly { key: number }[],
): Write<{ restarted: Map<number, JobRow>; seq: number }> {
  const now = yield* readClock()
  const rows = yield* sql.returningEach<JobRow>(
    `UPDATE jobs SET stage = 'queued', claimed_by = NULL, fence = fence + 1, error = NULL, attempts = 0, unclean_ends = 0,
       waits = 0, waiting_since = NULL, run_after = 0, updated_at = ? WHERE doc_key = ? AND completed_at IS NULL RETURNING *`,
    documents.map(({ key }) => [now, key]),
  )
  const jobs = rows.flat()
  const seq = yield* removeUnpublishedVersions(jobs.map(({ doc_key: docKey, version }) => ({ docKey, version })))
  return { restarted: new Map(jobs.map((job) => [job.doc_key, job])), seq }
}
