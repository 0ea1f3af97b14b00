import { LRUCache } from 'lru-cache'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { embedQuestions } from '../../compile/embeddings.js'
import { isTrained } from '../../compile/vector-spaces.js'
import type { EngineContext } from '../../context.js'
import { findSpaceOrDeleting, type SpaceRow } from '../../spaces/store.js'
import { cosine, sameWords, sharedWords } from './likeness.js'
import { type AnnotationRow, allAnnotations, replySetting } from './store.js'

/** vectors of questions that are kept, in bytes */
const MAX_VECTOR_BYTES = 64 * 1024 * 1024
/** what an entry costs beside its numbers */
const ENTRY_BYTES = 200

/** `known: false` = the model knows no word of the question */
type Kept = { known: true; vector: Float32Array } | { known: false }

interface App {
  tenant: string
  app: ChatApp
}

/** Finds the annotation that answers a question. Vectors of annotations are kept in memory and made anew when missing. */
export class AnnotationMatcher {
  readonly #context: EngineContext
  readonly #vectors = new LRUCache<string, Kept>({
    maxSize: MAX_VECTOR_BYTES,
    sizeCalculation: (kept) => ENTRY_BYTES + (kept.known ? kept.vector.byteLength : 0),
  })

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * The annotation most like the question, where it reaches the application's threshold. A model that fails costs the
   * likeness of meaning, not the turn.
   */
  async match(of: App, question: string, signal: AbortSignal): Promise<AnnotationRow | undefined> {
    const { db, log } = this.#context
    const { enabled, threshold } = replySetting(db, of.app.id)
    if (!enabled) return undefined
    const rows = allAnnotations(db, of.app.id)
    const same = rows.find((row) => sameWords(row.question, question))
    if (same !== undefined || rows.length === 0) return same
    try {
      const likeness = await this.#likeness(of, [question, ...rows.map((row) => row.question)], signal)
      const [best] = rows
        .map((row) => ({ row, score: likeness(question, row.question) }))
        .sort((a, b) => b.score - a.score)
      return best !== undefined && best.score >= threshold ? best.row : undefined
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ app: of.app.id, error: String(error) }, 'a question could not be compared with annotations')
      return undefined
    }
  }

  /** Makes the vectors of every annotation of an application. @throws KsError when the model cannot */
  async prepare(of: App, signal: AbortSignal): Promise<void> {
    const questions = allAnnotations(this.#context.db, of.app.id).map(({ question }) => question)
    await this.#likeness(of, questions, signal)
  }

  /**
   * How alike two of the questions are, 0 to 1: the cosine of their vectors under the model of the application's first
   * space. The built-in model knows only words of its space, so there half of the score is the words that both share;
   * without a model all of it is.
   */
  async #likeness({ tenant, app }: App, questions: string[], signal: AbortSignal) {
    const space = this.#space(tenant, app)
    if (space === undefined) return sharedWords
    const vectors = await this.#embed(space, questions, signal)
    if (vectors === undefined) return sharedWords
    return (a: string, b: string): number => {
      const [left, right] = [vectors.get(a), vectors.get(b)]
      const meaning = left?.known === true && right?.known === true ? cosine(left.vector, right.vector) : undefined
      if (meaning === undefined) return sharedWords(a, b)
      return isTrained(space) ? (meaning + sharedWords(a, b)) / 2 : meaning
    }
  }

  #space(tenant: string, app: ChatApp): SpaceRow | undefined {
    for (const id of app.knowledgeSpaceIds) {
      const space = findSpaceOrDeleting(this.#context.db, tenant, id)
      if (space?.deleted_at === null) return space
    }
    return undefined
  }

  async #embed(space: SpaceRow, questions: string[], signal: AbortSignal): Promise<Map<string, Kept> | undefined> {
    const found = new Map<string, Kept>()
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
      const kept: Kept = vector === undefined ? { known: false } : { known: true, vector }
      found.set(question, kept)
      this.#vectors.set(keyOf(question), kept)
    }
    return found
  }
}
