import { setTimeout as delay } from 'node:timers/promises'
import type { ChatApp } from '../../../../contract/chat/apps.js'
import { newId } from '../../../../lib/ids.js'
import type { Caller } from '../../../base/caller.js'
import { isTrained } from '../../../library/index.js'
import { BUILTIN_ANSWER } from '../../../models/index.js'
import {
  type AdmittedQuery,
  admit,
  answerQuery,
  findEvidence,
  type QueryServices,
  runWithLease,
} from '../../../retrieval/index.js'
import { findSpaceOrDeleting, type SpaceRow } from '../../../store/rows/spaces.js'
import { type HeadedDocument, listHeadedDocuments } from '../../rows/chat/overview.js'

/** Number of questions that are offered. */
const MAX_QUESTIONS = 3
/** Maximum headings that are tried for them. */
const MAX_TRIED = 12
/** Documents whose headings are read, of each space. */
const MAX_NEWEST_DOCUMENTS = 8
const MAX_LARGEST_DOCUMENTS = 16
/** A shorter heading, such as a number, makes no question; a longer one does not fit into a line. */
const HEADING_CHARACTERS = { min: 4, max: 70 }
/** A longer heading is a sentence. */
const MAX_HEADING_WORDS = 6
/** A request waits this long for the first questions of a revision; later requests get all of them. */
const MAX_WAIT_MS = 1500
/** Applications whose questions are kept. */
const MAX_KEPT = 200

interface QuestionCandidate {
  question: string
  heading: string
  documentId: string
  /** the lower, the more telling */
  rank: number
}

interface KeptQuestions {
  /** space ids with the revisions that the questions were made from */
  revisions: string
  questions: string[]
  done: Promise<void>
}

/**
 * Questions that an application offers before the first message. They are made of headings of its documents. A question
 * is offered only if searching for it finds its heading and a quotation answers it. No model is called for that.
 */
export class OpeningQuestions {
  readonly #services: QueryServices
  readonly #signal: AbortSignal
  /** By application. */
  readonly #kept = new Map<string, KeptQuestions>()

  /** @param signal aborts the searches */
  constructor(services: QueryServices, signal: AbortSignal) {
    this.#services = services
    this.#signal = signal
  }

  /** Starts to find the questions of an application, so that its first user does not wait for them. */
  prepare(caller: Caller, app: ChatApp): void {
    if (app.suggestedQuestions.length > 0 || app.knowledgeSpaceIds.length === 0) return
    this.#findOnce(caller, app).catch((error: unknown) => this.#logFailure(error))
  }

  /** The questions of an application, or those found so far if finding all takes too long. */
  async get(caller: Caller, app: ChatApp): Promise<string[]> {
    const kept = await this.#findOnce(caller, app)
    const waiting = new AbortController()
    await Promise.race([kept.done, delay(MAX_WAIT_MS, undefined, { signal: waiting.signal }).catch(() => {})])
    waiting.abort()
    return [...kept.questions]
  }

  /** The questions for the present revisions of the application's spaces, found or being found. */
  async #findOnce(caller: Caller, app: ChatApp): Promise<KeptQuestions> {
    const { db } = this.#services.context
    const spaces = await db.read(findLivingSpaces(caller.tenant, app.knowledgeSpaceIds))
    const revisions = spaces.map(({ id, head_revision }) => `${id}:${head_revision}`).join(' ')
    let kept = this.#kept.get(app.id)
    if (kept?.revisions !== revisions) {
      kept = this.#find(caller, spaces, revisions)
      this.#kept.delete(app.id)
      this.#kept.set(app.id, kept)
      const [oldest] = this.#kept.keys()
      if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest)
    }
    return kept
  }

  #logFailure(error: unknown): void {
    this.#services.context.log.debug({ error: String(error) }, 'opening questions could not be made')
  }

  #find(caller: Caller, spaces: readonly SpaceRow[], revisions: string): KeptQuestions {
    const questions: string[] = []
    const find = async () => {
      let tried = 0
      for (const { space, candidate } of await this.#listCandidates(caller, spaces)) {
        if (questions.length === MAX_QUESTIONS || tried === MAX_TRIED || this.#signal.aborted) return
        tried++
        if (await this.#isAnswered(caller, space, candidate)) questions.push(candidate.question)
      }
    }
    const done = find().catch((error: unknown) => this.#logFailure(error))
    return { revisions, questions, done }
  }

  /** Candidates of all spaces: one of each document first, documents of the spaces in turn. */
  async #listCandidates(caller: Caller, spaces: readonly SpaceRow[]) {
    const { db } = this.#services.context
    const rounds: { space: SpaceRow; candidate: QuestionCandidate; round: number }[] = []
    for (const space of spaces) {
      const documents = await db.read(
        listHeadedDocuments(space.key, caller, {
          revision: space.head_revision,
          newest: MAX_NEWEST_DOCUMENTS,
          largest: MAX_LARGEST_DOCUMENTS,
        }),
      )
      for (const candidates of makeCandidates(documents))
        for (const [round, candidate] of candidates.entries()) rounds.push({ space, candidate, round })
    }
    return rounds.sort((a, b) => a.round - b.round || a.candidate.rank - b.candidate.rank)
  }

  /** Whether a quotation answers the question from a passage below its heading. */
  async #isAnswered(caller: Caller, space: SpaceRow, { question, heading, documentId }: QuestionCandidate) {
    const { context } = this.#services
    const body = { knowledgeSpaceId: space.id, query: question, activeDocumentIds: [], activeEntityIds: [] }
    const admitted = withoutModels(await context.db.read(admit(context, caller, body)))
    const fast = { ...body, mode: 'fast' as const }
    const signal = this.#signal
    const found = await runWithLease(context, admitted, () =>
      findEvidence(this.#services, {
        admitted,
        body: fast,
        signal,
        traceId: newId(),
        // An embedding provider would be called for each question.
        ...(isTrained(admitted.space) ? {} : { embedding: Promise.resolve({ embedded: undefined }) }),
        byRules: true,
        ignoresFiles: true,
      }),
    )
    const isBelow = (number: unknown) => {
      const [citation] = found.bundle.items[Number(number) - 1]?.citations ?? []
      return citation?.documentAssetId === documentId && citation.sectionPath.includes(heading)
    }
    for await (const part of answerQuery(
      { context, admitted, query: question, turns: [], signal },
      found.bundle,
      found.retrieved,
    ))
      if (part.type === 'end' && Array.isArray(part.metadata.cited)) return part.metadata.cited.some(isBelow)
    return false
  }
}

/** The query with the engine's own order and answer. */
function withoutModels(admitted: AdmittedQuery): AdmittedQuery {
  const { enabled } = admitted.profile.rerank
  return { ...admitted, profile: { ...admitted.profile, reasoningModel: BUILTIN_ANSWER, rerank: { enabled } } }
}

/** Questions from the headings of each document, the most specific ones first; a heading of several documents gives none. */
function makeCandidates(documents: readonly HeadedDocument[]): QuestionCandidate[][] {
  const counts = new Map<string, number>()
  for (const { sections } of documents)
    for (const heading of new Set(sections.map((path) => path.at(-1) ?? '')))
      counts.set(heading, (counts.get(heading) ?? 0) + 1)
  return documents.map(({ id: documentId, sections }) => {
    const candidates = sections.flatMap((path): QuestionCandidate[] => {
      const heading = path.at(-1) ?? ''
      if (counts.get(heading) !== 1 || !isTelling(heading)) return []
      return [{ question: toQuestion(heading), heading, documentId, rank: rankHeading(heading, path.length) }]
    })
    return candidates.sort((a, b) => a.rank - b.rank)
  })
}

function isTelling(heading: string): boolean {
  const { length } = heading
  return length >= HEADING_CHARACTERS.min && length <= HEADING_CHARACTERS.max && /\p{L}{3}/u.test(heading)
}

/** Questions first, then headings of a few words within a document, then its title and sentences. */
function rankHeading(heading: string, depth: number): number {
  if (isQuestion(heading)) return 0
  const words = heading.trim().split(/\s+/).length
  const isShort = words > 1 && words <= MAX_HEADING_WORDS
  return (depth > 1 ? 1 : 2) + (isShort ? 0 : 2)
}

function isQuestion(heading: string): boolean {
  return /[?？؟]\s*$/u.test(heading)
}

/** A heading as a question in its own language. */
function toQuestion(heading: string): string {
  const text = heading.replace(/^[\d.]+\s+|[\s:.,;…]+$/gu, '').trim()
  return isQuestion(text) ? text : `${text}?`
}

function* findLivingSpaces(tenant: string, ids: readonly string[]) {
  const spaces: SpaceRow[] = []
  for (const id of ids) {
    const space = yield* findSpaceOrDeleting(tenant, id)
    if (space !== undefined && space.deleted_at === null) spaces.push(space)
  }
  return spaces
}
