import pLimit from 'p-limit'
import type { ModelReference } from '../base/model-reference.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { Extraction } from '../derived/graph/extraction.js'
import type { TokenMeter } from '../models/meter.js'
import { isBuiltin } from '../models/registry.js'
import { askForText } from '../models/reply.js'
import type { Generator } from '../models/types.js'
import type { SpaceRow } from '../rows/spaces.js'
import { profileOf } from '../spaces/profile.js'
import type { Read, Write } from '../storage/program.js'
import {
  addExtraction,
  extractionPrompt,
  type ModelExtraction,
  REPLY_CHARACTERS,
  REPLY_TOKENS,
  readReply,
} from './model-extraction.js'
import { keepExtraction, knownExtraction, type PassageNode } from './model-reads.js'

/** Reads passages with a model; `said` contains the nodes with a usable reply. */
export interface ModelReader {
  read(nodes: readonly PassageNode[]): Promise<{ extraction: Extraction; said: Map<number, ModelExtraction> }>
  /** Stores the extraction of a node that the graph contains: the same text is not requested again. */
  keep(node: PassageNode, said: ModelExtraction): Write<void>
}

const AT_ONCE = 4
const REPLY_MILLISECONDS = 20_000
/** Time limit of all passages of a call, so that a slow model does not block it. */
const CALL_MILLISECONDS = 60_000

/** The reasoning model of a space's profile; undefined without one, for a built-in one, or one that is unavailable. */
export function* readingModel(context: EngineContext, space: SpaceRow): Read<ModelReference | undefined> {
  const { reasoningModel } = yield* profileOf(space.key)
  if (reasoningModel === undefined || isBuiltin(reasoningModel)) return undefined
  return context.models.has(reasoningModel, 'generation') ? reasoningModel : undefined
}

/** Creates a reader that uses the given model. */
export function modelReader(
  context: EngineContext,
  space: SpaceRow,
  model: ModelReference,
  signal: AbortSignal,
): ModelReader {
  const { db, log } = context
  const generator = context.models.generator(model, account(context, space))
  const whole = AbortSignal.any([signal, AbortSignal.timeout(CALL_MILLISECONDS)])
  const atOnce = pLimit(AT_ONCE)
  const extractionOf = async (node: PassageNode): Promise<ModelExtraction | undefined> => {
    const known = await db.read(knownExtraction(space.key, model, node))
    if (known !== undefined || whole.aborted) return known
    const limited = AbortSignal.any([whole, AbortSignal.timeout(REPLY_MILLISECONDS)])
    // a failure only loses the model's part of this passage: the rules have read it
    return askPassage(generator, node.text, { signal: limited }).catch((error: unknown) => {
      log.debug({ error: String(error) }, 'a model returned no entities of a passage')
      return undefined
    })
  }
  return {
    async read(nodes) {
      const extraction: Extraction = { entities: new Map(), relations: new Map() }
      const said = new Map<number, ModelExtraction>()
      await Promise.all(
        nodes.map((node) =>
          atOnce(async () => {
            const one = await extractionOf(node)
            if (one !== undefined) said.set(node.key, one)
          }),
        ),
      )
      signal.throwIfAborted()
      for (const [key, one] of said) addExtraction(extraction, key, one)
      return { extraction, said }
    },
    keep: (node, said) => keepExtraction(space.key, model, node, said),
  }
}

/**
 * Extracts entities and relations of one passage with a model.
 *
 * @param options `urgent: false` for background calls
 * @returns undefined for an unusable reply
 * @throws KsError of the provider
 */
export async function askPassage(
  generator: Generator,
  passage: string,
  options: { signal: AbortSignal; meter?: TokenMeter; urgent?: boolean },
): Promise<ModelExtraction | undefined> {
  const limits = { maxTokens: REPLY_TOKENS, mostCharacters: REPLY_CHARACTERS }
  const messagesFor = (tokens: number) => extractionPrompt(passage, tokens)
  return readReply(await askForText(generator, messagesFor, { ...limits, ...options }), passage)
}
