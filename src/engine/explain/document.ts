import type { ExplainBody } from '../../contract/gateway/explain.js'
import { defined } from '../../lib/defined.js'
import { storedName, virtualName } from '../base/file-names.js'
import { type DocumentRow, lookupDocument, newestNamed } from '../rows/documents.js'
import {
  deletedDocument,
  documentsOfBase,
  namesLike,
  type VisibleVersion,
  versionAt,
  wasHere,
} from '../rows/explain.js'
import { latestJob } from '../rows/jobs.js'
import type { Reader } from '../rows/permissions.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { failed, passed, type Stages } from './stages.js'

const SUGGESTIONS = 5

type Named = Pick<ExplainBody, 'documentId' | 'path'>

/**
 * Finds the document that is asked about; the stages report why there is none. Documents that the reader may not know
 * of are treated as if they never existed.
 */
export function* findAsked(
  reader: Reader,
  space: SpaceRow,
  asked: Named,
  stages: Stages,
): Read<DocumentRow | undefined> {
  const rows = yield* candidates(reader, space, asked)
  const [row, ...others] = rows
  const name = asked.documentId ?? asked.path ?? ''
  if (row === undefined) {
    yield* explainAbsence(reader, space, asked, stages)
    return undefined
  }
  if (others.length > 0 && others.some((other) => other.filename !== row.filename)) {
    failed(stages, 'unknown-document', {
      stage: 'document',
      reason: 'ambiguous-path',
      text: `${rows.length} documents here have a path that ends in ${JSON.stringify(name)}`,
      figures: { similar: rows.slice(0, SUGGESTIONS).map((each) => each.filename) },
    })
    return undefined
  }
  passed(stages, 'document', 'found', `${JSON.stringify(row.filename)} is a document of the space`, {
    documentId: row.id,
    filename: row.filename,
    ...(others.length > 0 ? { namesakes: others.map((other) => other.id) } : {}),
  })
  return row
}

/** Finds documents by id; by complete name, newest first; or by a common end of name and path. */
function* candidates(reader: Reader, space: SpaceRow, asked: Named): Read<DocumentRow[]> {
  if (asked.documentId !== undefined) {
    const row = yield* lookupDocument(reader, space.key, asked.documentId)
    return row === undefined ? [] : [row]
  }
  const path = storedName(asked.path ?? '')
  const shown = virtualName(path)
  const base = shown.slice(shown.lastIndexOf('/') + 1)
  const all = yield* documentsOfBase(reader, space.key, base)
  const exact = all.filter((row) => row.filename === path)
  if (exact.length > 0) return exact
  return all.filter((row) => row.filename.endsWith(`/${path}`) || path.endsWith(`/${row.filename}`))
}

function* explainAbsence(reader: Reader, space: SpaceRow, asked: Named, stages: Stages): Read<void> {
  const name = asked.documentId ?? asked.path ?? ''
  const gone = yield* deletedDocument(reader, space.key, asked.documentId ?? '', storedName(asked.path ?? ''))
  if (gone !== undefined || (asked.documentId !== undefined && (yield* wasHere(reader, space.key, asked.documentId)))) {
    const successor =
      gone === undefined ? undefined : (yield* newestNamed(space.key, gone.source_id, [gone.filename]))[0]
    const at = gone?.deleted_at
    failed(stages, 'deleted', {
      stage: 'document',
      reason: successor === undefined ? 'deleted' : 'replaced',
      text:
        successor === undefined
          ? `the document ${JSON.stringify(name)} was deleted`
          : `the document was replaced by a newer one of the same name, ${successor.id}`,
      figures: {
        ...(at === undefined || at === null ? {} : { deletedAt: new Date(at).toISOString() }),
        ...defined({ replacedBy: successor?.id }),
      },
    })
    return
  }
  const similar = asked.path === undefined ? [] : yield* namesLike(reader, space.key, stemOf(asked.path), SUGGESTIONS)
  failed(stages, 'unknown-document', {
    stage: 'document',
    reason: asked.path === undefined ? 'unknown-id' : 'unknown-path',
    text: `no document ${JSON.stringify(name)} is in the space`,
    figures: { similar },
  })
}

/** `notes/Tides.md` gives `Tides`. */
function stemOf(path: string): string {
  const base = storedName(path).split('/').at(-1) ?? path
  const dot = base.lastIndexOf('.')
  return dot > 0 ? base.slice(0, dot) : base
}

/** Finds the version that queries see now; the stages report why there is none. */
export function* publishedNow(space: SpaceRow, row: DocumentRow, stages: Stages): Read<VisibleVersion | undefined> {
  const version = yield* versionAt(row.key, space.head_revision)
  const job = yield* latestJob(row.key)
  const figures = {
    ...defined({ jobId: job?.id, jobStage: job?.stage, attempts: job?.attempts }),
    ...(row.error === null ? {} : { errorCode: row.error_code ?? 'failed', error: row.error }),
  }
  if (version !== undefined) {
    const open = job !== undefined && job.completed_at === null
    const newer = open ? `; version ${job.version} is being compiled (${job.stage})` : ''
    passed(stages, 'publication', 'published', `version ${version.version} is published${newer}`, {
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
    failed(stages, empty ? 'no-text' : 'compile-failed', {
      stage: 'publication',
      reason: canceled ? 'compile-canceled' : empty ? 'no-text' : 'compile-failed',
      text: canceled
        ? 'the document was never published: its compilation was canceled'
        : `the document could not be compiled: ${row.error ?? job?.error ?? 'no reason is known'}`,
      figures,
    })
    return undefined
  }
  failed(stages, 'not-published', {
    stage: 'publication',
    reason: 'not-published-yet',
    text: `the document is not published yet: its compilation is at stage ${job?.stage ?? 'unknown'}`,
    figures,
  })
  return undefined
}
