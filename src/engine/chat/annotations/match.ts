import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { embedQuestions } from '../../compile/embeddings.js'
import { isTrained } from '../../compile/vector-spaces.js'
import type { EngineContext } from '../../context.js'
import { type AnnotationRow, allAnnotations, type ReplySetting, replySetting } from '../../rows/chat/annotations.js'
import type { OfApp } from '../../rows/chat/apps.js'
import type { SpaceRow } from '../../rows/spaces.js'
import type { Read } from '../../storage/program.js'
import { appIn } from '../apps.js'
import { firstLiving } from '../billing-account.js'
import { cosine, sameWords, sharedWords } from './likeness.js'
import { type Asked, asksTheSame, contradicts, readQuestion } from './question.js'

/** vectors of questions that are kept, in bytes */
const MAX_VECTOR_BYTES = 64 * 1024 * 1024
/** questions whose reading is kept: those of an application at its bound, and of a few others */
const MAX_READ = 10_000
/** of questions that are read before anything else is let in: some milliseconds */
const READ_AT_ONCE = 200
/** of two wordings of one question: what thresholds are made to let through */
const SAME = 0.95
/** of two questions with words that the other lacks, the most: below the threshold that clients begin with */
const OTHER = 0.85
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

  readonly #asked = new LRUCache<string, Asked>({ max: MAX_READ })

  constructor(context: EngineContext) {
    this.#context = context
  }

  /**
   * The annotation most like the question, where it reaches the application's threshold. A model that fails costs the
   * likeness of meaning, not the turn.
   */
  async match(of: App, question: string, signal: AbortSignal): Promise<AnnotationRow | undefined> {
    const { db, log } = this.#context
    const { enabled, threshold, rows } = await db.read(replying(appIn(of)))
    if (!enabled) return undefined
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
    const rows = await this.#context.db.read(allAnnotations(appIn(of)))
    await this.#likeness(
      of,
      rows.map(({ question }) => question),
      signal,
    )
  }

  /**
   * How alike two of the questions are, 0 to 1: the cosine of their vectors under the model of the application's first
   * space. The built-in model knows only words of its space, so there half of the score is the words that both share;
   * without a model all of it is, and either way the words have to agree. What contradicts is not alike at all.
   */
  async #likeness({ tenant, app }: App, questions: string[], signal: AbortSignal) {
    await this.#readAll(questions)
    const space = await this.#context.db.read(firstLiving(tenant, app.knowledgeSpaceIds))
    const vectors = space === undefined ? undefined : await this.#embed(space, questions, signal)
    // the words of a space tell that two texts are about the same, not that they ask the same
    const knowsMeaning = space !== undefined && vectors !== undefined && !isTrained(space)
    return (a: string, b: string): number => {
      const [one, another] = [this.#read(a), this.#read(b)]
      if (contradicts(one, another)) return 0
      const [left, right] = [vectors?.get(a), vectors?.get(b)]
      const meaning = left?.known === true && right?.known === true ? cosine(left.vector, right.vector) : undefined
      const shared = sharedWords(a, b)
      const score = meaning === undefined ? shared : knowsMeaning ? meaning : (meaning + shared) / 2
      if (asksTheSame(one, another)) return Math.max(score, SAME)
      return knowsMeaning && meaning !== undefined ? score : Math.min(score, OTHER)
    }
  }

  /** Thousands of questions take a while: others have their turn in between. */
  async #readAll(questions: readonly string[]): Promise<void> {
    for (const [index, question] of questions.entries()) {
      this.#read(question)
      if (index % READ_AT_ONCE === 0) await nextTurn()
    }
  }

  #read(question: string): Asked {
    const known = this.#asked.get(question)
    if (known !== undefined) return known
    const asked = readQuestion(question)
    this.#asked.set(question, asked)
    return asked
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

/** Whether an application replies with its annotations, and those where it does. */
function* replying(of: OfApp): Read<ReplySetting & { rows: AnnotationRow[] }> {
  const setting = yield* replySetting(of)
  return { ...setting, rows: setting.enabled ? yield* allAnnotations(of) : [] }
}
