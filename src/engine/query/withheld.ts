import type { MissingEvidence } from '../../contract/gateway/queries.js'
import { counted } from '../../lib/text/counted.js'
import type { EngineContext } from '../context.js'
import { deniedNodes, permittedDocuments } from '../rows/permissions.js'
import { visibleKeys } from '../rows/queries.js'
import { MAX_FILTER_DOCS, MAX_K } from '../search/limits.js'
import type { SearchHit, SearchHits, SearchRequest } from '../search/ports.js'
import type { Admitted } from './admission.js'
import { ANSWER_FROM, COVERED_FROM } from './answerability.js'
import { RERANK_LIMIT } from './rank.js'

/** What the scopes of sources kept from the reader. */
export interface PermissionLimit {
  /** passages */
  filtered: number
  /** one of them ranks before everything that the reader may read */
  better: boolean
  /** that one would answer by itself: without it nothing says that there is an answer at all */
  near: boolean
}

/**
 * @param filtered passages that were left out
 * @param best of all passages, those that were left out among them; `final` is the confidence that it answers, `coverage`
 *   the share of the question's weight that it holds
 */
export function permissionLimit(
  filtered: number,
  best: { final: number; coverage: number; withheld: boolean } | undefined,
  { scoreThreshold }: Admitted['profile'],
): PermissionLimit | undefined {
  if (filtered === 0) return undefined
  const better = best?.withheld === true && best.final >= scoreThreshold
  return { filtered, better, near: better && best.final >= ANSWER_FROM && best.coverage >= COVERED_FROM }
}

/** How evidence says that passages were left out; it names none of them. */
export function withheldEntry({ filtered, better }: PermissionLimit): MissingEvidence {
  return {
    reason: 'permission-filtered',
    text: `${counted(filtered, 'passage')} ${filtered === 1 ? 'was' : 'were'} left out, whose sources you may not read`,
    metadata: { filtered, better },
  }
}

/** What both indexes found. */
export interface Recall {
  found: SearchHits
  /** those that the snapshot shows */
  recalled: SearchHit[]
  /** of these, those that the reader may read */
  permitted: SearchHit[]
  /** node keys of the others */
  denied: ReadonlySet<number>
  /** how many of what was found the snapshot does not show */
  hidden: number
}

/**
 * Asks both indexes. Where passages that the reader may not read took the places of those that they may, the documents
 * that they may read are asked for once more.
 */
export async function recall(
  context: EngineContext,
  admitted: Admitted,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<Recall> {
  const first = await ask(context, admitted, request, signal)
  const { found, permitted, denied } = first
  const isFull = found.textCount >= request.textK || found.vectorCount >= request.vectorK
  if (denied.size === 0 || permitted.length >= RERANK_LIMIT || !isFull) return first
  const docs = await context.db.read(permittedDocuments(admitted.space.key, admitted, MAX_FILTER_DOCS))
  const named = request.docs === undefined ? docs : docs?.filter((key) => request.docs?.includes(key))
  // a space of more documents than a filter may name is asked for more passages instead
  const wider = named === undefined ? { ...request, textK: MAX_K, vectorK: MAX_K } : { ...request, docs: named }
  const second = await ask(context, admitted, wider, signal)
  const withheld = first.recalled.filter(({ key }) => first.denied.has(key))
  return {
    found: {
      ...second.found,
      textCount: found.textCount + second.found.textCount,
      vectorCount: found.vectorCount + second.found.vectorCount,
      textMs: found.textMs + second.found.textMs,
      vectorMs: found.vectorMs + second.found.vectorMs,
      degraded: [...new Set([...found.degraded, ...second.found.degraded])],
    },
    recalled: [...second.permitted, ...withheld],
    permitted: second.permitted,
    denied: first.denied,
    hidden: second.hidden,
  }
}

async function ask(
  { indexes, db }: EngineContext,
  admitted: Admitted,
  request: SearchRequest,
  signal: AbortSignal,
): Promise<Recall> {
  const found = await indexes.search(admitted.space.id, { ...request, seq: admitted.seq }, signal)
  signal.throwIfAborted()
  const keys = found.hits.map(({ key }) => key)
  const { visible, denied } = await db.read(shownKeys(admitted, keys))
  const recalled = found.hits.filter(({ key }) => visible.has(key))
  const permitted = denied.size === 0 ? recalled : recalled.filter(({ key }) => !denied.has(key))
  return { found, recalled, permitted, denied, hidden: found.hits.length - recalled.length }
}

/** Of nodes, those that the snapshot shows, and of these those that the reader may not read. */
function* shownKeys({ space, snapshot, subject }: Admitted, keys: number[]) {
  const visible = yield* visibleKeys(space.key, snapshot, keys)
  return { visible, denied: yield* deniedNodes(space.key, { subject }, [...visible]) }
}
