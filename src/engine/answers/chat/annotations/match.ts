import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { ChatApp } from '../../../../contract/chat/apps.js'
import { type EngineContext, embedQuestions, isTrained } from '../../../library/index.js'
import type { Read } from '../../../store/program.js'
import type { AppScope } from '../../../store/rows/chat/apps.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'
import {
  type AnnotationReplySetting,
  type AnnotationRow,
  getReplySetting,
  listAllAnnotations,
} from '../../rows/chat/annotations.js'
import { toAppKey } from '../apps.js'
import { findFirstLivingSpace } from '../billing-account.js'
import { asksSame, contradicts, type ParsedQuestion, parseQuestion } from './question.js'
import { computeClampedCosine, computeWordOverlap, hasEqualWords } from './similarity.js'

/** Size of the vector cache in bytes. */
const MAX_VECTOR_BYTES = 64 * 1024 * 1024
/** Number of cached parsed questions: those of one application at its limit, and of a few others. */
const MAX_PARSED_QUESTIONS = 10_000
/** Questions parsed before the event loop gets a turn: some milliseconds. */
const PARSE_BATCH_COUNT = 200
/** Minimum score of two wordings of one question: usual thresholds let it pass. */
const SAME_QUESTION_MIN_SCORE = 0.95
/** Maximum score of two questions that each have words the other lacks: below the default threshold of clients. */
const OTHER_QUESTION_MAX_SCORE = 0.85
/** Overhead of a cache entry beyond its vector. */
const ENTRY_OVERHEAD_BYTES = 200

/** `known: false`: the model knows no word of the question. */
type CachedVector = { known: true; vector: Float32Array } | { known: false }

interface TenantApp {
  tenant: string
  app: ChatApp
}

/**
 * Finds the annotation that answers a question. Vectors of annotations are cached in memory and recomputed when
 * missing.
 */
export class AnnotationMatcher {
  readonly #context: EngineContext
  readonly #vectors = new LRUCache<string, CachedVector>({
    maxSize: MAX_VECTOR_BYTES,
    sizeCalculation: (kept) => ENTRY_OVERHEAD_BYTES + (kept.known ? kept.vector.byteLength : 0),
  })

  readonly #parsedQuestions = new LRUCache<string, ParsedQuestion>({ max: MAX_PARSED_QUESTIONS })

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * The annotation most similar to the question, if it reaches the application's threshold. If the model fails, only
   * the annotations with equal words match; the turn continues.
   */
  async match(tenantApp: TenantApp, question: string, signal: AbortSignal): Promise<AnnotationRow | undefined> {
    const { db, log } = this.#context
    const { enabled, threshold, rows } = await db.read(loadReplySetting(toAppKey(tenantApp)))
    if (!enabled) return undefined
    const same = rows.find((row) => hasEqualWords(row.question, question))
    if (same !== undefined || rows.length === 0) return same
    try {
      const likeness = await this.#createSimilarity(tenantApp, [question, ...rows.map((row) => row.question)], signal)
      const [best] = rows
        .map((row) => ({ row, score: likeness(question, row.question) }))
        .sort((a, b) => b.score - a.score)
      return best !== undefined && best.score >= threshold ? best.row : undefined
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ app: tenantApp.app.id, error: String(error) }, 'a question could not be compared with annotations')
      return undefined
    }
  }

  /**
   * Computes the vectors of every annotation of an application.
   * @throws KsError if the model fails
   */
  async prepare(tenantApp: TenantApp, signal: AbortSignal): Promise<void> {
    const rows = await this.#context.db.read(listAllAnnotations(toAppKey(tenantApp)))
    await this.#createSimilarity(
      tenantApp,
      rows.map(({ question }) => question),
      signal,
    )
  }

  /**
   * Similarity of two of the questions, 0 to 1: the cosine of their vectors with the model of the application's first
   * space. The built-in model knows only words of its space, so half of the score is the word overlap; without a model
   * all of it is. In both cases the words must agree. Contradicting questions score 0.
   */
  async #createSimilarity({ tenant, app }: TenantApp, questions: string[], signal: AbortSignal) {
    await this.#parseAll(questions)
    const space = await this.#context.db.read(findFirstLivingSpace(tenant, app.knowledgeSpaceIds))
    const vectors = space === undefined ? undefined : await this.#embed(space, questions, signal)
    // The words of a space show that two texts have the same topic, not that they ask the same.
    const knowsMeaning = space !== undefined && vectors !== undefined && !isTrained(space)
    return (a: string, b: string): number => {
      const [one, another] = [this.#parse(a), this.#parse(b)]
      if (contradicts(one, another)) return 0
      const [left, right] = [vectors?.get(a), vectors?.get(b)]
      const meaning =
        left?.known === true && right?.known === true ? computeClampedCosine(left.vector, right.vector) : undefined
      const shared = computeWordOverlap(a, b)
      const score = meaning === undefined ? shared : knowsMeaning ? meaning : (meaning + shared) / 2
      if (asksSame(one, another)) return Math.max(score, SAME_QUESTION_MIN_SCORE)
      return knowsMeaning && meaning !== undefined ? score : Math.min(score, OTHER_QUESTION_MAX_SCORE)
    }
  }

  /** Thousands of questions take a while: yields to other work in between. */
  async #parseAll(questions: readonly string[]): Promise<void> {
    for (const [index, question] of questions.entries()) {
      this.#parse(question)
      if (index % PARSE_BATCH_COUNT === 0) await nextTurn()
    }
  }

  #parse(question: string): ParsedQuestion {
    const known = this.#parsedQuestions.get(question)
    if (known !== undefined) return known
    const parsed = parseQuestion(question)
    this.#parsedQuestions.set(question, parsed)
    return parsed
  }

  async #embed(
    space: SpaceRow,
    questions: string[],
    signal: AbortSignal,
  ): Promise<Map<string, CachedVector> | undefined> {
    const found = new Map<string, CachedVector>()
    const keyOf = (question: string) => `${space.vector_space}\n${question}`
    for (const question of questions) {
      const kept = this.#vectors.get(keyOf(question))
      if (kept !== undefined) found.set(question, kept)
    }
    const missing = [...new Set(questions)].filter((question) => !found.has(question))
    if (missing.length === 0) return found
    const vectors = await embedQuestions(this.#context, space, missing, signal)
    if (vectors === undefined) return undefined
    for (const [index, question] of missing.entries()) {
      const vector = vectors[index]
      const kept: CachedVector = vector === undefined ? { known: false } : { known: true, vector }
      found.set(question, kept)
      this.#vectors.set(keyOf(question), kept)
    }
    return found
  }
}

/** Whether an application replies with annotations, with all annotations if so. */
function* loadReplySetting(app: AppScope): Read<AnnotationReplySetting & { rows: AnnotationRow[] }> {
  const setting = yield* getReplySetting(app)
  return { ...setting, rows: setting.enabled ? yield* listAllAnnotations(app) : [] }
}
