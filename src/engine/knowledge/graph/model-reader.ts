import pLimit from 'p-limit'
import type { ModelReference } from '../../base/model-reference.js'
import { type EngineContext, getProfile, getSpaceAccount } from '../../library/index.js'
import { type Generator, isBuiltin, requestText, type TokenMeter } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import type { GraphExtraction } from '../derived/graph/extraction.js'
import {
  addExtraction,
  buildExtractionPrompt,
  MAX_REPLY_CHARACTERS,
  MAX_REPLY_TOKENS,
  type ModelExtraction,
  parseReply,
} from './model-extraction.js'
import { findExtraction, type PassageNode, storeModelExtraction } from './stored-extractions.js'

/** Reads passages with a model; `replies` contains the nodes with a usable reply. */
export interface ModelPassageReader {
  read(nodes: readonly PassageNode[]): Promise<{ extraction: GraphExtraction; replies: Map<number, ModelExtraction> }>
  /** Stores the extraction of a node that the graph contains: the same text is not requested again. */
  store(node: PassageNode, extraction: ModelExtraction): Write<void>
}

const MAX_CONCURRENT_REPLIES = 4
const REPLY_TIMEOUT_MS = 20_000
/** Time limit of all passages of a call, so that a slow model does not block it. */
const CALL_TIMEOUT_MS = 60_000

/** The reasoning model of a space's profile; undefined without one, for a built-in one, or one that is unavailable. */
export function* findReadingModel(context: EngineContext, space: SpaceRow): Read<ModelReference | undefined> {
  const { reasoningModel } = yield* getProfile(space.key)
  if (reasoningModel === undefined || isBuiltin(reasoningModel)) return undefined
  return context.models.has(reasoningModel, 'generation') ? reasoningModel : undefined
}

/** Creates a reader that uses the given model. */
export function createModelReader(
  context: EngineContext,
  space: SpaceRow,
  model: ModelReference,
  signal: AbortSignal,
): ModelPassageReader {
  const { db, log } = context
  const generator = context.models.generator(model, getSpaceAccount(context, space))
  const callSignal = AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)])
  const limit = pLimit(MAX_CONCURRENT_REPLIES)
  const extract = async (node: PassageNode): Promise<ModelExtraction | undefined> => {
    const known = await db.read(findExtraction(space.key, model, node))
    if (known !== undefined || callSignal.aborted) return known
    const replySignal = AbortSignal.any([callSignal, AbortSignal.timeout(REPLY_TIMEOUT_MS)])
    // a failure only loses the model's part of this passage: the rules have read it
    return requestExtraction(generator, node.text, { signal: replySignal }).catch((error: unknown) => {
      log.debug({ error: String(error) }, 'a model returned no entities of a passage')
      return undefined
    })
  }
  return {
    async read(nodes) {
      const extraction: GraphExtraction = { entities: new Map(), relations: new Map() }
      const replies = new Map<number, ModelExtraction>()
      await Promise.all(
        nodes.map((node) =>
          limit(async () => {
            const extracted = await extract(node)
            if (extracted !== undefined) replies.set(node.key, extracted)
          }),
        ),
      )
      signal.throwIfAborted()
      for (const [key, extracted] of replies) addExtraction(extraction, key, extracted)
      return { extraction, replies }
    },
    store: (node, extraction) => storeModelExtraction(space.key, model, node, extraction),
  }
}

/**
 * Extracts entities and relations of one passage with a model.
 *
 * @param options `urgent: false` for background calls
 * @returns undefined for an unusable reply
 * @throws KsError of the provider
 */
export async function requestExtraction(
  generator: Generator,
  passage: string,
  options: { signal: AbortSignal; meter?: TokenMeter; urgent?: boolean },
): Promise<ModelExtraction | undefined> {
  const limits = { maxTokens: MAX_REPLY_TOKENS, maxCharacters: MAX_REPLY_CHARACTERS }
  const messagesFor = (tokens: number) => buildExtractionPrompt(passage, tokens)
  return parseReply(await requestText(generator, messagesFor, { ...limits, ...options }), passage)
}
