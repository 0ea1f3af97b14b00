import type { AcceptedDocument } from '../../../contract/gateway/documents.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import type { StagedObject } from '../../store/objects.js'
import type { Read, Write } from '../../store/program.js'
import {
  type DocumentRow,
  insertDocuments,
  lookupDocuments,
  type NewDocument,
  type NextFile,
  toAsset,
} from '../../store/rows/documents.js'
import { hasEndedUnpublished, insertJobs, type JobRow, toTicket } from '../../store/rows/jobs.js'
import { type EditLeftovers, queueEdits } from '../../store/rows/next-files.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { completeUploads, type UploadResult } from '../../store/rows/staged-commits.js'
import { findUploadMatches, type UploadMatch } from './documents.js'

/** A file of an upload whose bytes are received. */
export interface StagedUploadFile {
  staged: StagedObject
  commitId: string
  filename: string
  mimeType: string
  objectKey: string
  metadata: Record<string, unknown>
}

/** The documents of an upload, and what it replaced. */
export interface AdmittedUpload extends EditLeftovers {
  accepted: AcceptedDocument[]
}

/** Makes documents and jobs of the files of an upload, inside the caller's transaction. */
export function* admitFiles(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  received: readonly StagedUploadFile[],
): Write<AdmittedUpload> {
  const acceptedByFile = new Map<StagedUploadFile, AcceptedDocument>()
  const replacedKeys: string[] = []
  let seq = 0
  for (const round of splitIntoRounds(received)) {
    const admitted = yield* admit(caller, space, sourceId, round)
    for (const [item, accepted] of admitted.files) acceptedByFile.set(item, accepted)
    replacedKeys.push(...admitted.replacedKeys)
    seq = Math.max(seq, admitted.seq)
  }
  return { accepted: received.flatMap((item) => acceptedByFile.get(item) ?? []), replacedKeys, seq }
}

/** Splits files into rounds without duplicate names: the later one of two finds the document of the earlier one. */
function splitIntoRounds(received: readonly StagedUploadFile[]): StagedUploadFile[][] {
  const rounds: StagedUploadFile[][] = []
  const occurrences = new Map<string, number>()
  for (const item of received) {
    const round = occurrences.get(item.filename) ?? 0
    occurrences.set(item.filename, round + 1)
    rounds[round] = [...(rounds[round] ?? []), item]
  }
  return rounds
}

/** The documents of some files of an upload, and what they replaced. */
interface AdmittedFiles extends EditLeftovers {
  files: [StagedUploadFile, AcceptedDocument][]
}

/**
 * Inserts assets and jobs, or finds assets with the same names. One with the same bytes gets a new job only after a
 * failure; one with other bytes keeps its id and gets the file as its next one.
 */
function* admit(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  items: readonly StagedUploadFile[],
): Write<AdmittedFiles> {
  const matches = yield* matchReceived(space, sourceId, items)
  const existing: [StagedUploadFile, AcceptedDocument][] = []
  const compiled: FileToCompile[] = []
  for (const [index, item] of items.entries()) {
    const { newest, same, latest } = matches[index] ?? {}
    if (same !== undefined && latest !== undefined && !hasEndedUnpublished(latest))
      existing.push([item, toAccepted(space, same, latest)])
    else compiled.push({ item, row: newest, isEdit: newest !== undefined && same === undefined })
  }
  yield* completeUploads(
    ['received', 'object-staged', 'canceled'],
    existing.map(([{ commitId }, { asset }]) => ({ commitId, documentId: asset.id, jobId: null })),
  )
  const inserted = yield* insertCompilations(caller, space, sourceId, compiled)
  return { ...inserted, files: [...existing, ...inserted.files] }
}

/** A received file, and the document with its name. */
interface FileToCompile {
  item: StagedUploadFile
  row: DocumentRow | undefined
  /** its bytes differ from those of the document */
  isEdit: boolean
}

/** Inserts the jobs of files, and the missing documents. */
function* insertCompilations(
  caller: Caller,
  space: SpaceRow,
  sourceId: string | null,
  files: readonly FileToCompile[],
): Write<AdmittedFiles> {
  const added = files.flatMap(({ item, row }) => (row === undefined ? [item] : []))
  const insertedRows = yield* insertDocuments(added.map((item) => toNewDocument(space, sourceId, item)))
  const rows = new Map(added.map((item, index) => [item, insertedRows[index]]))
  const documents = files.flatMap(({ item, row, isEdit }) => {
    const document = row ?? rows.get(item)
    return document === undefined ? [] : [{ item, document, isNew: row === undefined, isEdit }]
  })
  const {
    documents: editedRows,
    jobs: edited,
    ...replaced
  } = yield* queueEdits(
    space,
    documents.flatMap(({ item, document, isEdit }) => (isEdit ? [{ document, file: toNextFile(item) }] : [])),
  )
  const inserted = yield* insertJobs(
    space,
    documents.flatMap(({ document, isEdit }) => (isEdit ? [] : [document])),
  )
  const jobs = new Map([...edited, ...inserted].map((job) => [job.doc_key, job]))
  // this transaction is the acknowledgement: the bytes are durable, verified by their hash, and have their row
  const path = ['received', 'object-staged', 'object-verified', 'metadata-prepared'] as const
  const results: UploadResult[] = []
  const acceptedFiles: [StagedUploadFile, AcceptedDocument][] = []
  // a new job has changed the rows of documents without an edit
  const retriedIds = documents.flatMap(({ document, isNew, isEdit }) => (isNew || isEdit ? [] : [document.id]))
  const retriedRows = (yield* lookupDocuments(caller, space.key, retriedIds)).flatMap(({ row }) => row ?? [])
  const changed = new Map([...editedRows, ...retriedRows].map((row) => [row.key, row]))
  for (const { item, document } of documents) {
    const job = jobs.get(document.key)
    if (job === undefined) continue
    results.push({ commitId: item.commitId, documentId: document.id, jobId: job.id })
    acceptedFiles.push([item, toAccepted(space, changed.get(document.key) ?? document, job)])
  }
  yield* completeUploads(path, results)
  return { ...replaced, files: acceptedFiles }
}

function toNewDocument(space: SpaceRow, sourceId: string | null, item: StagedUploadFile): NewDocument {
  return {
    tenant: space.tenant,
    id: newId(),
    space_key: space.key,
    source_id: sourceId,
    metadata: item.metadata,
    filename: item.filename,
    mime_type: item.mimeType,
    object_key: item.objectKey,
    sha256: item.staged.sha256,
    size_bytes: item.staged.size,
  }
}

function toNextFile(item: StagedUploadFile): NextFile {
  const { objectKey, mimeType, metadata, staged } = item
  return { objectKey, mimeType, metadata, sha256: staged.sha256, sizeBytes: staged.size }
}

export function toAccepted(space: SpaceRow, row: DocumentRow, job: JobRow): AcceptedDocument {
  return { asset: toAsset(row, space.id), compilationJob: toTicket(job), statusUrl: `/jobs/${job.id}` }
}

/** For each file the newest document with its name. */
export function matchReceived(
  { key }: SpaceRow,
  sourceId: string | null,
  received: readonly StagedUploadFile[],
): Read<UploadMatch[]> {
  const files = received.map(({ filename, staged: { sha256 } }) => ({ name: filename, sha256 }))
  return findUploadMatches(key, sourceId, files)
}
