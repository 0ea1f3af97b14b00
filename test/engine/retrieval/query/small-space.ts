import type { EvidenceItem, QueryBody } from '../../../../src/contract/gateway/queries.js'
import type { RetrievalProfile } from '../../../../src/contract/gateway/retrieval-profile.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { compileBatch } from '../../../../src/engine/ingest/compile/pipeline.js'
import { Derivations } from '../../../../src/engine/knowledge/derived/derivation.js'
import { PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import type { EngineContext } from '../../../../src/engine/library/context.js'
import type { GenerationEvent } from '../../../../src/engine/models/types.js'
import { type AdmittedQuery, admit } from '../../../../src/engine/retrieval/query/admission.js'
import { QueryGate } from '../../../../src/engine/retrieval/query/gate.js'
import type { SearchHit, SearchHits, SearchRequest } from '../../../../src/engine/search/ports.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import {
  activateVectorSpace,
  insertTrainedVectorSpace,
  recordDimension,
} from '../../../../src/engine/store/rows/vector-spaces.js'
import { newId } from '../../../../src/lib/ids.js'
import { ADA } from '../../../helpers/engine.js'
import type { SmallStore } from '../../../helpers/store.js'

export const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
export const never = new AbortController().signal

export const bodyOf = (space: SpaceRow, query: string, more: Partial<QueryBody> = {}): QueryBody => ({
  ...{ knowledgeSpaceId: space.id, query, activeDocumentIds: [], activeEntityIds: [] },
  ...more,
})

/** Publishes files in a space. */
export async function publish(store: SmallStore, space: SpaceRow, files: Record<string, string>): Promise<void> {
  await compileBatch(store.context, store.reload(space), await store.uploadAndClaim(space, files), { signal: never })
}

/** An admitted query, with a different profile if a test needs one. */
export function admitted(
  store: SmallStore,
  space: SpaceRow,
  {
    caller = ADA,
    profile = {},
    ...body
  }: { caller?: Caller; profile?: Partial<RetrievalProfile> } & Partial<QueryBody> = {},
): AdmittedQuery {
  const found = store.db.now(admit(store.context, caller, bodyOf(space, 'a question', body)))
  return { ...found, profile: { ...found.profile, ...profile } }
}

/** The services that queries of one engine share. */
export const sharedBy = (context: EngineContext, gate = new QueryGate(4, 4)) => ({
  cache: new PassageCache(),
  derivations: new Derivations(context),
  gate,
})

/** Restricts files of a space to these readers. */
export function restrict(store: SmallStore, space: SpaceRow, filenames: string[], ...subjects: string[]): void {
  for (const filename of filenames) {
    const source = `${space.id}/${filename}`
    store.run('UPDATE documents SET source_id = ? WHERE filename = ? AND space_key = ?', source, filename, space.key)
    for (const subject of subjects)
      store.run(
        'INSERT INTO source_readers (source_id, subject, space_key) VALUES (?, ?, ?)',
        source,
        subject,
        space.key,
      )
  }
}

/** The reply of a chat model to one call; an error is thrown. */
export type Reply = string | Error | (GenerationEvent | Error)[]

/** Installs chat models that return these replies in order. Returns the requests that they receive. */
export function speaking(context: EngineContext, ...replies: Reply[]) {
  const asked: {
    messages: { role: string; content: string }[]
    options: { signal: AbortSignal; maxTokens: number }
  }[] = []
  const generator = (reference: object) => ({
    reference,
    contextTokens: 8000,
    async *generate(messages: never, options: never): AsyncGenerator<GenerationEvent> {
      asked.push({ messages, options })
      const reply = replies.shift() ?? new Error('nothing more is said')
      if (reply instanceof Error) throw reply
      if (typeof reply === 'string') {
        yield { type: 'delta', text: reply }
        yield {
          type: 'end',
          finishReason: 'stop',
          usage: { inputTokens: 5, outputTokens: 2 },
          metadata: { model: MODEL.model },
        }
        return
      }
      for (const event of reply) {
        if (event instanceof Error) throw event
        yield event
      }
    },
  })
  context.models = { ...context.models, generator } as never
  return asked
}

/** An evidence item with a text and defaults for everything else. */
export const evidenceOf = (nodeId: string, text: string, more: Partial<EvidenceItem> = {}): EvidenceItem => ({
  ...{ nodeId, text, score: 1, scores: { retrieval: 1, final: 1 }, freshness: 'fresh', citations: [], conflicts: [] },
  ...{ metadata: { title: nodeId, filename: `${nodeId}.md` } },
  ...more,
})

/** Gives a space its embedding model with two dimensions. */
export function model(store: SmallStore, space: SpaceRow): void {
  if (space.embedding_plugin !== 'builtin') {
    store.write(() => recordDimension(space.key, 2, space.vector_space))
    return
  }
  store.write(function* () {
    const made = yield* insertTrainedVectorSpace(
      space,
      newId(),
      { dimension: 2, bytes: new Uint8Array(1), trainedNodes: 30 },
      'gone',
    )
    yield* activateVectorSpace(space.key, made)
  })
}

/** Node keys of a space by their texts. */
export function keysOf(store: SmallStore, space: SpaceRow): Map<string, number> {
  const rows = store.rows<{ text: string; key: number }>('SELECT text, key FROM nodes WHERE space_key = ?', space.key)
  return new Map(rows.map(({ text, key }) => [text, key]))
}

/** The reply of an index without hits. */
const FOUND: SearchHits = {
  ...{ hits: [], textCount: 0, frequencies: new Map(), rewordings: [], vectorCount: 0, textMs: 0, vectorMs: 0 },
  ...{ textEngine: 'fts5', vectorMethod: 'none', degraded: [] },
}

/** Makes both indexes return these hits. @returns the search requests that they receive */
export function finding(
  store: SmallStore,
  find: (request: SearchRequest, call: number) => SearchHit[] | Partial<SearchHits>,
): SearchRequest[] {
  const asked: SearchRequest[] = []
  store.indexes.search = async (_, request) => {
    asked.push(request)
    const found = find(request, asked.length)
    return Array.isArray(found) ? { ...FOUND, hits: found, textCount: found.length } : { ...FOUND, ...found }
  }
  return asked
}
