import { KsError, notFoundError } from '../../../../contract/errors.js'
import type { QueryBody } from '../../../../contract/gateway/queries.js'
import type { SpacesQueryBody } from '../../../../contract/gateway/several-spaces.js'
import { LIMITS } from '../../../../contract/limits.js'
import type { Caller } from '../../../base/caller.js'
import type { EngineContext } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import { lookupDocuments } from '../../../store/rows/documents.js'
import { countSpaces, listLastPublishedSpaces } from '../../../store/rows/space-changes.js'
import { findSpace, type SpaceRow } from '../../../store/rows/spaces.js'
import { type Admission, admit } from '../admission.js'

/** A space of a request, with its own request and admission, or the reason why it cannot be searched. */
export type SpaceAdmission = { space: SpaceRow } & ({ body: QueryBody; admitted: Admission } | { failure: KsError })

interface AdmittedSpaces {
  spaces: SpaceAdmission[]
  /** number of spaces beyond the maximum of a request that names none */
  omitted: number
}

/**
 * Admits a question to several spaces. Spaces that cannot be searched are returned with the reason. Spaces without any
 * of the requested documents are left out.
 *
 * @param check throws for a space that cannot be searched for another reason
 * @throws KsError `not-found` when a named space or document does not exist for the caller, or no document of any space
 * matches the filter; the error of the first space when none can be searched
 */
export function* admitSpaces(
  context: EngineContext,
  caller: Caller,
  { knowledgeSpaceIds, ...question }: SpacesQueryBody,
  check: (admitted: Admission) => void = () => undefined,
): Read<AdmittedSpaces> {
  const rows = yield* knowledgeSpaceIds === undefined
    ? listLastPublishedSpaces(caller.tenant, LIMITS.querySpaces.all)
    : findNamedSpaces(caller, knowledgeSpaceIds)
  const missing = new Set(question.activeDocumentIds)
  const spaces: SpaceAdmission[] = []
  let mismatch: KsError | undefined
  for (const space of rows) {
    const ids = yield* filterOwnDocuments(caller, space, question.activeDocumentIds)
    for (const id of ids) missing.delete(id)
    if (ids.length === 0 && question.activeDocumentIds.length > 0) continue
    try {
      const body = { ...question, knowledgeSpaceId: space.id, activeDocumentIds: ids }
      const admitted = yield* admit(context, caller, body)
      check(admitted)
      spaces.push({ space, body, admitted })
    } catch (error) {
      if (!(error instanceof KsError)) throw error
      if (error.code === 'not-found') mismatch = error
      else spaces.push({ space, failure: error })
    }
  }
  const [unknown] = missing
  if (unknown !== undefined) throw notFoundError('document', unknown)
  const [first] = spaces
  if (first === undefined) throw mismatch ?? new KsError('not-found', 'there is no knowledge space here')
  if (spaces.every((one) => 'failure' in one) && 'failure' in first) throw first.failure
  const omitted = knowledgeSpaceIds === undefined ? (yield* countSpaces(caller.tenant)) - rows.length : 0
  return { spaces, omitted }
}

function* findNamedSpaces({ tenant }: Caller, ids: readonly string[]): Read<SpaceRow[]> {
  const rows: SpaceRow[] = []
  for (const id of new Set(ids)) rows.push(yield* findSpace(tenant, id))
  return rows
}

/** Those of some documents that are in the space and that the caller may read. */
function* filterOwnDocuments(caller: Caller, space: SpaceRow, ids: readonly string[]): Read<string[]> {
  if (ids.length === 0) return []
  return (yield* lookupDocuments(caller, space.key, ids)).flatMap(({ id, row }) => (row === undefined ? [] : [id]))
}
