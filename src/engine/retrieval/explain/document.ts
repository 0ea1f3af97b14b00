import type { ExplainBody } from '../../../contract/gateway/explain.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import { toStoredName, toVirtualName } from '../../base/file-names.js'
import type { Read } from '../../store/program.js'
import { type DocumentRow, findNewestByName, lookupDocument } from '../../store/rows/documents.js'
import { findLatestJob } from '../../store/rows/jobs.js'
import type { Reader } from '../../store/rows/permissions.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import {
  findDeletedDocument,
  findVersionAt,
  listDocumentsByBaseName,
  listSimilarNames,
  type VisibleVersion,
  wasEverStored,
} from '../rows/explain.js'
import type { Stages } from './stages.js'

const MAX_SUGGESTIONS = 5

type DocumentReference = Pick<ExplainBody, 'documentId' | 'path'>

/**
 * Finds the document that is asked about; the stages report why there is none. Documents that the reader may not know
 * of are treated as if they never existed.
 */
export function* findExplainedDocument(
  reader: Reader,
  space: SpaceRow,
  reference: DocumentReference,
  stages: Stages,
): Read<DocumentRow | undefined> {
  const rows = yield* findCandidates(reader, space, reference)
  const [row, ...others] = rows
  const name = reference.documentId ?? reference.path ?? ''
  if (row === undefined) {
    yield* explainAbsence(reader, space, reference, stages)
    return undefined
  }
  if (others.length > 0 && others.some((other) => other.filename !== row.filename)) {
    stages.addFailed('unknown-document', {
      stage: 'document',
      reason: 'ambiguous-path',
      text: `${pluralize(rows.length, 'document')} here have a path that ends in ${JSON.stringify(name)}`,
      figures: { similar: rows.slice(0, MAX_SUGGESTIONS).map((each) => each.filename) },
    })
    return undefined
  }
  stages.addPassed('document', 'found', `${JSON.stringify(row.filename)} is a document of the space`, {
    documentId: row.id,
    filename: row.filename,
    ...(others.length > 0 ? { namesakes: others.map((other) => other.id) } : {}),
  })
  return row
}

/** Finds documents by id; by complete name, newest first; or by a common end of name and path. */
function* findCandidates(reader: Reader, space: SpaceRow, reference: DocumentReference): Read<DocumentRow[]> {
  if (reference.documentId !== undefined) {
    const row = yield* lookupDocument(reader, space.key, reference.documentId)
    return row === undefined ? [] : [row]
  }
  const path = toStoredName(reference.path ?? '')
  const virtualPath = toVirtualName(path)
  const base = virtualPath.slice(virtualPath.lastIndexOf('/') + 1)
  const all = yield* listDocumentsByBaseName(reader, space.key, base)
  const exact = all.filter((row) => row.filename === path)
  if (exact.length > 0) return exact
  return all.filter((row) => row.filename.endsWith(`/${path}`) || path.endsWith(`/${row.filename}`))
}

function* explainAbsence(reader: Reader, space: SpaceRow, reference: DocumentReference, stages: Stages): Read<void> {
  const name = reference.documentId ?? reference.path ?? ''
  const deleted = yield* findDeletedDocument(
    reader,
    space.key,
    reference.documentId ?? '',
    toStoredName(reference.path ?? ''),
  )
  if (
    deleted !== undefined ||
    (reference.documentId !== undefined && (yield* wasEverStored(reader, space.key, reference.documentId)))
  ) {
    const successor =
      deleted === undefined ? undefined : (yield* findNewestByName(space.key, deleted.source_id, [deleted.filename]))[0]
    const deletedAt = deleted?.deleted_at
    stages.addFailed('deleted', {
      stage: 'document',
      reason: successor === undefined ? 'deleted' : 'replaced',
      text:
        successor === undefined
          ? `the document ${JSON.stringify(name)} was deleted`
          : `the document was replaced by a newer one of the same name, ${successor.id}`,
      figures: {
        ...(deletedAt === undefined || deletedAt === null ? {} : { deletedAt: new Date(deletedAt).toISOString() }),
        ...omitUndefined({ replacedBy: successor?.id }),
      },
    })
    return
  }
  const similar =
    reference.path === undefined
      ? []
      : yield* listSimilarNames(reader, space.key, getNameStem(reference.path), MAX_SUGGESTIONS)
  stages.addFailed('unknown-document', {
    stage: 'document',
    reason: reference.path === undefined ? 'unknown-id' : 'unknown-path',
    text: `no document ${JSON.stringify(name)} is in the space`,
    figures: { similar },
  })
}

/** `notes/Tides.md` gives `Tides`. */
function getNameStem(path: string): string {
  const base = toStoredName(path).split('/').at(-1) ?? path
  const dot = base.lastIndexOf('.')
  return dot > 0 ? base.slice(0, dot) : base
}

/** Finds the version that queries see now; the stages report why there is none. */
export function* findPublishedVersion(
  space: SpaceRow,
  row: DocumentRow,
  stages: Stages,
): Read<VisibleVersion | undefined> {
  const version = yield* findVersionAt(row.key, space.head_revision)
  const job = yield* findLatestJob(row.key)
  const figures = {
    ...omitUndefined({ jobId: job?.id, jobStage: job?.stage, attempts: job?.attempts }),
    ...(row.error === null ? {} : { errorCode: row.error_code ?? 'failed', error: row.error }),
  }
  if (version !== undefined) {
    const isCompiling = job !== undefined && job.completed_at === null
    const newer = isCompiling ? `; version ${job.version} is being read (${job.stage})` : ''
    stages.addPassed('publication', 'published', `version ${version.version} is published${newer}`, {
      ...figures,
      version: version.version,
      revision: version.from_revision,
      passages: version.node_count,
    })
    return version
  }
  if (row.parser_status === 'failed' || job?.stage === 'failed' || job?.stage === 'canceled') {
    const canceled = job?.stage === 'canceled'
    const empty = row.error_code === 'empty'
    stages.addFailed(empty ? 'no-text' : 'compile-failed', {
      stage: 'publication',
      reason: canceled ? 'compile-canceled' : empty ? 'no-text' : 'compile-failed',
      text: canceled
        ? 'the document was never published: reading it was canceled'
        : `the document could not be read: ${row.error ?? job?.error ?? 'no reason is known'}`,
      figures,
    })
    return undefined
  }
  stages.addFailed('not-published', {
    stage: 'publication',
    reason: 'not-published-yet',
    text: `the document is not published yet: it is being read, at stage ${job?.stage ?? 'unknown'}`,
    figures,
  })
  return undefined
}
