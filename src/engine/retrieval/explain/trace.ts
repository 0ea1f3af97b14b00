import { KsError, notFoundError } from '../../../contract/errors.js'
import type { Explanation } from '../../../contract/gateway/explain.js'
import type { EvidenceBundle, TraceStep } from '../../../contract/gateway/queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { pluralize } from '../../../lib/text/pluralize.js'
import type { Caller } from '../../base/caller.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { findTrace, type TraceRow } from '../../store/rows/traces.js'
import { findFirstRevision } from '../rows/explain.js'
import { normalizeText } from './passages.js'
import type { Stages } from './stages.js'

/** The parts of a stored trace that an explanation needs. */
export interface RecordedTrace {
  row: TraceRow
  bundle: EvidenceBundle | undefined
  /** head revision of the space when the query ran */
  revision: number | undefined
  activeDocumentIds: string[]
}

/** @throws KsError `not-found` for a trace that is not the caller's, or of another space */
export function* readTrace(caller: Caller, space: SpaceRow, id: string): Read<RecordedTrace> {
  const { row, spaceId, bundle } = yield* findTrace(caller, id)
  if (spaceId !== space.id) throw notFoundError('trace', id)
  const steps: TraceStep[] = parseJsonCell(row.steps)
  if (!Array.isArray(steps)) throw new KsError('internal', 'the steps of a trace are not a list')
  const metadata = Object.assign({}, ...steps.map((step) => step.metadata))
  return {
    row,
    bundle,
    revision: readNumber(metadata, 'projectionSnapshot', 'headRevision'),
    activeDocumentIds: Array.isArray(metadata.activeDocumentIds) ? metadata.activeDocumentIds.map(String) : [],
  }
}

function readNumber(value: Record<string, unknown>, outer: string, inner: string): number | undefined {
  const object = value[outer]
  if (typeof object !== 'object' || object === null) return undefined
  const found: unknown = Object.getOwnPropertyDescriptor(object, inner)?.value
  return typeof found === 'number' ? found : undefined
}

type TracePart = NonNullable<Explanation['trace']>

/** Rank of the document in the recorded evidence, from 1. */
function findRecordedRank(recorded: RecordedTrace, documentId: string, quote: string | undefined): number | undefined {
  const index = (recorded.bundle?.items ?? []).findIndex(
    (item) =>
      item.citations.some((citation) => citation.documentAssetId === documentId) &&
      (quote === undefined || normalizeText(item.text).includes(normalizeText(quote))),
  )
  return index < 0 ? undefined : index + 1
}

/** Explains what the trace recorded about the document; this may decide the verdict. */
export function* explainRecorded(
  space: SpaceRow,
  recorded: RecordedTrace,
  { document, quote }: { document: DocumentRow | undefined; quote: string | undefined },
  stages: Stages,
): Read<TracePart> {
  const { row, revision } = recorded
  const rank = document === undefined ? undefined : findRecordedRank(recorded, document.id, quote)
  const part: TracePart = {
    id: row.id,
    createdAt: new Date(row.created_at).toISOString(),
    mode: row.mode,
    ...omitUndefined({ rank, headRevisionThen: revision }),
    headRevisionNow: space.head_revision,
  }
  const items = recorded.bundle?.items.length ?? 0
  const figures = { items, revision, headRevisionNow: space.head_revision }
  const first = document === undefined ? undefined : yield* findFirstRevision(document.key)
  if (row.completed === 0) {
    const text = 'the recorded query failed before it had evidence'
    stages.addFailed('query-failed', { stage: 'trace', reason: 'query-failed', text, figures })
  } else if (rank !== undefined) {
    stages.addPassed('trace', 'recorded', `the recorded evidence holds it as number ${rank} of ${items}`, figures)
    stages.verdict ??= 'shown'
  } else if (first !== undefined && revision !== undefined && first.version === 1 && first.revision > revision) {
    stages.addFailed('not-published', {
      stage: 'trace',
      reason: 'published-later',
      text: `the document was published in revision ${first.revision}, the query read revision ${revision}`,
      figures: { ...figures, publishedIn: first.revision },
    })
  } else
    stages.addNote(
      'trace',
      'not-recorded',
      `the recorded evidence does not contain it: ${pluralize(items, 'passage')}`,
      figures,
    )
  return part
}

/** Whether running the query again gave exactly the recorded evidence, in the same order. */
export function isReproduced(recorded: RecordedTrace, nodeIds: readonly string[]): boolean {
  const recordedIds = recorded.bundle?.items.map((item) => item.nodeId) ?? []
  return recordedIds.length === nodeIds.length && recordedIds.every((id, index) => id === nodeIds[index])
}
