import { KsError } from '../../../contract/errors.js'
import { isOfThisAnalyzer } from '../../models/index.js'
import { findSpaceByKeyOrDeleting, type SpaceRow } from '../../store/rows/spaces.js'
import {
  findModelBytes,
  getActiveVectorSpace,
  supersedeVectorSpace,
  type VectorSpace,
} from '../../store/rows/vector-spaces.js'
import type { EngineContext } from '../context.js'
import { getQuotas } from '../spaces/quota.js'
import { embeddingReference, isTrained } from './vector-spaces.js'

export interface EmbeddingText {
  title: string
  text: string
}

export interface EmbeddedNodes {
  vectorSpace: VectorSpace
  /** in the order of the nodes; nothing where the model knows no term of the text */
  vectors: (Float32Array | undefined)[]
}

const TEXTS_PER_MESSAGE = 64 // texts in one message to the embedding thread

/** Embeds nodes with the current model of a trained space. @returns nothing while it has no model */
export async function embedNodes(
  context: EngineContext,
  space: SpaceRow,
  nodes: EmbeddingText[],
): Promise<EmbeddedNodes | undefined> {
  const vectorSpace = nodes.length === 0 ? undefined : await loadActiveVectorSpace(context, space)
  if (vectorSpace === undefined) return undefined
  const texts = nodes.map((node) => `${node.title}\n${node.text}`)
  return { vectorSpace, vectors: await embedTrained(context, vectorSpace, texts) }
}

/** Embeds texts with a trained model, active or still being built. */
export async function embedTrained(
  context: EngineContext,
  vectorSpace: { id: string },
  texts: string[],
): Promise<(Float32Array | undefined)[]> {
  await ensureLoaded(context, vectorSpace.id)
  const vectors: (Float32Array | undefined)[] = []
  const maxTexts = TEXTS_PER_MESSAGE * context.lsa.threads
  for (let start = 0; start < texts.length; start += maxTexts) {
    const slices: string[][] = []
    for (let index = start; index < Math.min(start + maxTexts, texts.length); index += TEXTS_PER_MESSAGE)
      slices.push(texts.slice(index, index + TEXTS_PER_MESSAGE))
    const results = await Promise.all(slices.map((slice) => context.lsa.embed(vectorSpace.id, slice, 'document')))
    for (const result of results) vectors.push(...result.vectors)
  }
  return vectors
}

export interface EmbeddedQuery {
  vector: Float32Array
  vectorSpaceId: string
  dimension: number
}

interface QueryEmbeddingOptions {
  signal?: AbortSignal | undefined
  /** analysed terms that a trained model embeds instead of the text */
  terms?: readonly string[] | undefined
}

/**
 * Embeds a query.
 *
 * @returns nothing when the space has no model yet or its model knows no term of the query
 */
export async function embedQuery(
  context: EngineContext,
  space: SpaceRow,
  text: string,
  { signal, terms }: QueryEmbeddingOptions = {},
): Promise<EmbeddedQuery | undefined> {
  const vectorSpace = await loadActiveVectorSpace(context, space)
  if (vectorSpace === undefined) return undefined
  if (isTrained(space)) {
    const [vector] =
      terms === undefined
        ? (await context.lsa.embed(vectorSpace.id, [text], 'query')).vectors
        : (await context.lsa.embed(vectorSpace.id, [terms.join(' ')], 'terms')).vectors
    return vector === undefined
      ? undefined
      : { vector, vectorSpaceId: vectorSpace.id, dimension: vectorSpace.dimension }
  }
  const { dimension } = vectorSpace
  const embedder = context.models.embedder(embeddingReference(space), getSpaceAccount(context, space), dimension)
  const [vector] = await embedder.embed([text], 'query', signal)
  if (vector === undefined) throw new KsError('internal', 'an embedder returned no vector for a text')
  return { vector, vectorSpaceId: vectorSpace.id, dimension }
}

/**
 * Embeds questions with the current model of a space, for comparison with each other.
 *
 * @returns nothing while a trained space has no model yet; no vector where the model knows no term of a question
 */
export async function embedQuestions(
  context: EngineContext,
  space: SpaceRow,
  questions: string[],
  signal?: AbortSignal,
): Promise<(Float32Array | undefined)[] | undefined> {
  const vectorSpace = await loadActiveVectorSpace(context, space)
  if (!isTrained(space)) {
    const billingAccount = getSpaceAccount(context, space)
    const embedder = context.models.embedder(embeddingReference(space), billingAccount, vectorSpace?.dimension)
    return await embedder.embed(questions, 'query', signal)
  }
  if (vectorSpace === undefined) return undefined
  const vectors: (Float32Array | undefined)[] = []
  for (let start = 0; start < questions.length; start += TEXTS_PER_MESSAGE)
    vectors.push(
      ...(await context.lsa.embed(vectorSpace.id, questions.slice(start, start + TEXTS_PER_MESSAGE), 'query')).vectors,
    )
  return vectors
}

/** Weights of terms in a space, where it has a trained model. */
export async function termWeights(
  context: EngineContext,
  space: SpaceRow,
  terms: string[],
): Promise<Map<string, number> | undefined> {
  if (!isTrained(space)) return undefined
  const vectorSpace = await loadActiveVectorSpace(context, space)
  if (vectorSpace === undefined) return undefined
  return context.lsa.idf(vectorSpace.id, terms)
}

/**
 * A space's vector space, with its model loaded if it is a trained one. A model of an earlier text analyser is
 * superseded: the space works by text alone until it is trained again, which this schedules.
 */
async function loadActiveVectorSpace(context: EngineContext, space: SpaceRow): Promise<VectorSpace | undefined> {
  const { db, log } = context
  const vectorSpace = await db.read(getActiveVectorSpace(space))
  if (vectorSpace === undefined || !isTrained(space) || context.lsa.has(vectorSpace.id)) return vectorSpace
  const bytes = await db.read(findModelBytes(vectorSpace.id))
  if (bytes === undefined || isOfThisAnalyzer(bytes)) {
    await ensureLoaded(context, vectorSpace.id)
    return vectorSpace
  }
  log.info({ space: space.id }, 'the embedding model belongs to an earlier text analyser and is trained again')
  await db.write(() => supersedeVectorSpace(vectorSpace.key, 'active'), { lock: space.key })
  context.wake(space.key)
  return undefined
}

async function ensureLoaded(context: EngineContext, vectorSpaceId: string): Promise<void> {
  if (context.lsa.has(vectorSpaceId)) return
  const bytes = await context.db.read(findModelBytes(vectorSpaceId))
  if (bytes === undefined) throw new KsError('internal', 'a trained vector space has no model')
  await context.lsa.load(vectorSpaceId, bytes)
}

/** The billing account of provider calls: the space, within the budgets of its manifest. */
export function getSpaceAccount(context: EngineContext, space: SpaceRow) {
  return {
    tenant: space.tenant,
    id: space.id,
    limits: async () => {
      const row = await context.db.read(findSpaceByKeyOrDeleting(space.key))
      return row === undefined ? {} : getQuotas(context, row).providerBudgets
    },
  }
}
