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

/** Reads passages; `said` has the nodes that the model gave a usable answer for. */
export interface ModelReader {
  read(nodes: readonly PassageNode[]): Promise<{ extraction: Extraction; said: Map<number, ModelExtraction> }>
  /** Keeps what it said of a node, when the graph holds it: the same text is not asked again. */
  keep(node: PassageNode, said: ModelExtraction): Write<void>
}

const AT_ONCE = 4
const REPLY_MILLISECONDS = 20_000
/** All passages of one call, so that a slow model does not hold it. */
const CALL_MILLISECONDS = 60_000

/** The reasoning model of a space's profile; nothing where it has none, a built-in one, or one that is not there. */
export function* readingModel(context: EngineContext, space: SpaceRow): Read<ModelReference | undefined> {
  const { reasoningModel } = yield* profileOf(space.key)
  if (reasoningModel === undefined || isBuiltin(reasoningModel)) return undefined
  return context.models.has(reasoningModel, 'generation') ? reasoningModel : undefined
}

/** A reader that asks a model of `readingModel`. */
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
    // a model that fails costs this passage's, since the rules have read it
    return askPassage(generator, node.text, { signal: limited }).catch((error: unknown) => {
      log.debug({ error: String(error) }, 'a model gave no entities of a passage')
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
 * What a model says of one passage.
 *
 * @param options `urgent` false: nobody waits for it
 * @returns nothing where its reply is no usable one
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
