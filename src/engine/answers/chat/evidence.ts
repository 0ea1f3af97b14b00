import type { ChatApp } from '../../../contract/chat/apps.js'
import { ChatError } from '../../../contract/chat/errors.js'
import type { RetrieverResource } from '../../../contract/chat/messages.js'
import type { EvidenceBundle, EvidenceItem } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import type { Degradation } from '../../base/degraded.js'
import {
  type AdmittedQuery,
  admit,
  findEvidence,
  judgeRetrieval,
  type QueryServices,
  type RetrievalResult,
  type RetrievalServices,
  rankLoosePassages,
  runWithLease,
  toEvidenceItem,
  toSearchedQuery,
} from '../../retrieval/index.js'
import type { Read } from '../../store/program.js'
import type { SessionTurn } from '../../store/rows/sessions.js'
import { findSpaceOrDeleting } from '../../store/rows/spaces.js'
import type { ConversationDocuments } from './files/documents.js'

/** The evidence of one space, or of the documents of a conversation. */
export interface SpaceEvidence {
  /** the source of the passages that clients see, if it is not the space */
  dataset?: { id: string; name: string }
  admitted: AdmittedQuery
  retrieved: RetrievalResult
  bundle: EvidenceBundle
}

/**
 * Ids of the application's spaces that are not deleted.
 * @throws ChatError `app_unavailable` if all of them are deleted
 */
export function* findLivingSpaceIds(tenant: string, app: ChatApp): Read<string[]> {
  const living: string[] = []
  for (const id of app.knowledgeSpaceIds)
    if ((yield* findSpaceOrDeleting(tenant, id))?.deleted_at === null) living.push(id)
  if (living.length === 0 && app.knowledgeSpaceIds.length > 0)
    throw new ChatError('app_unavailable', 'every knowledge space of the application was deleted')
  return living
}

/** Queries one space like `POST /queries` in its default mode, and judges the evidence. */
async function findSpaceEvidence(
  services: RetrievalServices,
  caller: Caller,
  question: { knowledgeSpaceId: string; query: string; turns: readonly SessionTurn[]; conversationId: string },
  signal: AbortSignal,
): Promise<SpaceEvidence> {
  const { context } = services
  const { knowledgeSpaceId, query: text, turns, conversationId } = question
  const body = { knowledgeSpaceId, query: text, activeDocumentIds: [], activeEntityIds: [] }
  const admitted = await context.db.read(admit(context, caller, body))
  const search = async (): Promise<SpaceEvidence> => {
    const query = toSearchedQuery(text, turns)
    const options = { admitted, body, query, turns, signal, traceId: newId() }
    const { retrieved, bundle } = await findEvidence(services, options)
    return { admitted, retrieved, bundle }
  }
  return runWithLease(context, admitted, search, conversationId)
}

/** Name of the documents of a conversation among the sources of an answer. */
const DOCUMENTS_NAME = 'Uploaded documents'
/** With fewer passages that fit the question, the beginning of the newest document is evidence, too. */
const MIN_DOCUMENT_PASSAGES = 3

/** A question, and where its evidence is searched. */
interface EvidenceQuestion {
  caller: Caller
  conversationId: string
  spaceIds: readonly string[]
  documents: ConversationDocuments
}

/**
 * Queries the spaces of an application and the documents of the conversation, as one of the daemon's concurrent queries.
 *
 * @param search the text to search for, and the earlier turns that it may refer to
 */
export async function findChatEvidence(
  services: QueryServices,
  question: EvidenceQuestion,
  search: { query: string; turns: readonly SessionTurn[] },
  signal: AbortSignal,
): Promise<SpaceEvidence[]> {
  const { caller, conversationId, spaceIds, documents } = question
  const searchSpace = (knowledgeSpaceId: string) =>
    findSpaceEvidence(services, caller, { ...search, knowledgeSpaceId, conversationId }, signal)
  const leave = await services.gate.enter(caller.tenant, signal)
  try {
    const spaces = await Promise.all(spaceIds.map(searchSpace))
    const [first] = spaces
    if (first === undefined || (documents.documents.length === 0 && documents.degraded.length === 0)) return spaces
    const found = await findDocumentEvidence(services, first.admitted, { ...search, documents }, signal)
    return [...spaces, { ...found, dataset: { id: conversationId, name: DOCUMENTS_NAME } }]
  } finally {
    leave()
  }
}

/** Ranks and judges the passages of a conversation's documents. @param admitted the query in the application's first space */
async function findDocumentEvidence(
  { context }: QueryServices,
  admitted: AdmittedQuery,
  question: { query: string; turns: readonly SessionTurn[]; documents: ConversationDocuments },
  signal: AbortSignal,
): Promise<SpaceEvidence> {
  const { query: text, turns, documents } = question
  const { topK, scoreThreshold } = admitted.profile
  const search = { query: toSearchedQuery(text, turns), topK, scoreThreshold, cache: documents.cache, signal }
  const ranked = await rankLoosePassages(documents.documents.flat(), search)
  const found = { ...ranked, degraded: documents.degraded }
  const body = { knowledgeSpaceId: admitted.space.id, query: text, activeDocumentIds: [], activeEntityIds: [] }
  const options = { admitted, body, turns, signal, traceId: newId(), byRules: true, ignoresFiles: true }
  const { retrieved, bundle } = await judgeRetrieval(context, options, found)
  return { admitted, retrieved, bundle: addBeginning(bundle, documents, topK) }
}

/** Adds the beginning of the newest document to few passages: "Summarise it" shares no term with the document. */
function addBeginning(bundle: EvidenceBundle, { documents }: ConversationDocuments, topK: number): EvidenceBundle {
  if (bundle.items.length >= MIN_DOCUMENT_PASSAGES) return bundle
  const known = new Set(bundle.items.map(({ nodeId }) => nodeId))
  const beginning = (documents[0] ?? [])
    .filter(({ id }) => !known.has(id))
    .slice(0, topK - bundle.items.length)
    .map((passage) => toEvidenceItem({ passage, final: 0, retrieval: 0 }))
  return { ...bundle, items: [...bundle.items, ...beginning] }
}

/**
 * Merges the evidence of several spaces, best first; the best space provides statistics and profile.
 *
 * @param all also evidence that does not seem to answer, for a model to read; otherwise spaces without an answer
 * contribute nothing if another space has one
 */
export function mergeEvidence(
  spaces: SpaceEvidence[],
  { all }: { all: boolean },
): { best: SpaceEvidence; resources: RetrieverResource[]; degraded: Degradation[] } | undefined {
  const degraded = spaces.flatMap(({ retrieved }) => retrieved.degraded)
  const answering = spaces.filter(({ bundle }) => bundle.state !== 'not-enough-evidence')
  const ranked = sortByTopScore(all || answering.length === 0 ? spaces : answering)
  const first = ranked.find(({ bundle }) => bundle.state !== 'not-enough-evidence') ?? ranked[0]
  if (first === undefined) return undefined
  const items = selectBest(ranked, { reservesHalf: all })
  const best = { ...first, bundle: { ...first.bundle, items: items.map(({ item }) => item) } }
  if (answering.length === 0 && !all) return { best, resources: [], degraded }
  const resources = items.map(({ item, dataset }, index) => ({
    position: index + 1,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    document_id: item.citations[0]?.documentAssetId ?? item.nodeId,
    document_name: String(item.metadata.filename ?? item.metadata.documentTitle ?? ''),
    segment_id: item.nodeId,
    score: item.score,
    content: item.text,
    ...toLocation(item),
  }))
  return { best, resources, degraded }
}

/** Where the passage is in its document. */
function toLocation({ citations: [citation] }: EvidenceItem) {
  const { sectionPath = [], pageNumber: page, sourceUrl: source_url } = citation ?? {}
  return { ...(sectionPath.length === 0 ? {} : { section_path: sectionPath }), ...omitUndefined({ page, source_url }) }
}

type RankedSpaceItem = { item: EvidenceItem; dataset: { id: string; name: string } }

/**
 * The best passages of all spaces, as many as the largest `topK`.
 *
 * @param options `reservesHalf`: whether half of the result is reserved equally for all spaces. Scores of two spaces are
 * not well comparable, and a model that reads the passages should not miss a space.
 */
function selectBest(spaces: readonly SpaceEvidence[], options: { reservesHalf: boolean }): RankedSpaceItem[] {
  const maxItems = Math.max(...spaces.map(({ admitted }) => admitted.profile.topK))
  const reservedPerSpace = options.reservesHalf ? Math.max(1, Math.floor(maxItems / 2 / spaces.length)) : 0
  const found = spaces.flatMap(({ bundle, admitted: { space }, dataset = space }) =>
    bundle.items.map((item, index) => ({ item, dataset, isReserved: index < reservedPerSpace })),
  )
  const best = found.sort((a, b) => Number(b.isReserved) - Number(a.isReserved) || b.item.score - a.item.score)
  return best.slice(0, maxItems).sort((a, b) => b.item.score - a.item.score)
}

/** Sorts spaces by the score of their best passage, highest first. */
export function sortByTopScore(spaces: readonly SpaceEvidence[]): SpaceEvidence[] {
  return [...spaces].sort((a, b) => getTopScore(b) - getTopScore(a))
}

function getTopScore({ bundle }: SpaceEvidence): number {
  return bundle.items[0]?.score ?? 0
}
