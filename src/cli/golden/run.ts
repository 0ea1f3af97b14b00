import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { paginate } from '../../client/pages.js'
import type { QueryBody } from '../../contract/gateway/queries.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { checkAnswer } from '../../lib/text/expected-answer.js'
import { askQuestion, type QueryAnswer } from '../query/ask.js'
import { AnchorResolver } from './anchors.js'
import { formatAnchor } from './expectation.js'
import { type CaseResult, type GoldenEvidence, measureEvidence } from './measure.js'
import { type GoldenRunCase, parseGoldenCase } from './question.js'

export interface GoldenRunOptions {
  spaceId: string
  mode?: NonNullable<QueryBody['mode']>
  /** Number of evidence items that are compared. */
  k: number
  concurrency: number
  onDone: (result: CaseResult) => void
}

const PAGE_SIZE = 100
/** Delays before retries while the service is busy or does not respond. */
const RETRY_DELAYS_MS = [250, 1_000, 4_000]
/** Documents scanned for missing passage ids; more would take minutes. */
const MAX_SCANNED_DOCUMENTS = 2_000

/** Loads the golden questions of a space. */
export async function loadStoredCases(client: Client, spaceId: string): Promise<GoldenRunCase[]> {
  const cases: GoldenRunCase[] = []
  const pages = paginate(
    ({ limit, cursor }) =>
      client.request('GET /knowledge-spaces/{id}/golden-questions', {
        path: { id: spaceId },
        query: { limit: String(limit), ...omitUndefined({ cursor }) },
      }),
    { pageSize: PAGE_SIZE },
  )
  for await (const golden of pages) cases.push(parseGoldenCase(golden, `golden question ${golden.id}`))
  return cases
}

/** Sends every question, several in parallel, and measures the evidence. Results are in the order of the questions. */
export async function runCases(
  client: Client,
  cases: readonly GoldenRunCase[],
  run: GoldenRunOptions,
): Promise<CaseResult[]> {
  const anchors = new AnchorResolver(client, run.spaceId)
  const results: CaseResult[] = []
  const passageIds = new PassageIds(client, run.spaceId)
  let next = 0
  const worker = async (): Promise<void> => {
    for (;;) {
      const index = next++
      const golden = cases[index]
      if (golden === undefined) return
      const result = await runCase(client, golden, { anchors, ids: passageIds }, run)
      results[index] = result
      run.onDone(result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.concurrency, cases.length) }, worker))
  return results
}

/** @throws ConnectionError if the service does not respond: then no question can run */
async function runCase(
  client: Client,
  golden: GoldenRunCase,
  lookups: { anchors: AnchorResolver; ids: PassageIds },
  run: GoldenRunOptions,
): Promise<CaseResult> {
  const { id, question, tags, expect } = golden
  const base = { id, question, tags, missing: [], unresolved: [] }
  const isLabelled = golden.anchors.length + golden.evidenceIds.length > 0
  if (!isLabelled && golden.answerable === undefined && expect === undefined) return { ...base, status: 'unlabelled' }
  try {
    const { wanted: expected, unresolved } = await resolveEvidence(golden, lookups.anchors)
    const answer = await askWithRetries(client, question, run)
    const missingIds = await lookups.ids.findMissing(expected, answer.evidenceBundle)
    const measurable = expected.filter((evidence) => !('nodeId' in evidence) || !missingIds.has(evidence.nodeId))
    const unresolvedLabels = [
      ...unresolved,
      ...[...missingIds].map((nodeId) => `no passage has the id ${nodeId} any more`),
    ]
    const isAnswered = answer.finishReason === 'retrieval-evidence'
    const { answer: text, evidenceState: state = 'unknown' } = answer
    return {
      ...base,
      status: isLabelled && measurable.length === 0 && expect === undefined ? 'unresolved' : 'measured',
      traceId: answer.traceId,
      ...omitUndefined({ mode: answer.resolvedMode, evidenceState: answer.evidenceState }),
      ...(measurable.length === 0 ? {} : measureEvidence(answer.evidenceBundle, measurable, run.k)),
      ...(golden.answerable === undefined ? {} : { answerable: isAnswered === golden.answerable }),
      ...(expect === undefined ? {} : { answer: { ...checkAnswer(expect, { text, state }), text } }),
      unresolved: unresolvedLabels,
    }
  } catch (error) {
    if (error instanceof ConnectionError) throw error
    return { ...base, status: 'failed', error: error instanceof Error ? error.message : String(error) }
  }
}

async function resolveEvidence(
  golden: GoldenRunCase,
  anchors: AnchorResolver,
): Promise<{ wanted: GoldenEvidence[]; unresolved: string[] }> {
  const expected: GoldenEvidence[] = golden.evidenceIds.map((nodeId) => ({ text: `passage ${nodeId}`, nodeId }))
  const unresolved: string[] = []
  for (const anchor of golden.anchors) {
    const resolution = await anchors.resolve(anchor)
    if ('label' in resolution) expected.push({ text: formatAnchor(anchor), label: resolution.label })
    else unresolved.push(resolution.unresolved)
  }
  return { wanted: expected, unresolved }
}

async function askWithRetries(client: Client, query: string, run: GoldenRunOptions): Promise<QueryAnswer> {
  const { spaceId: knowledgeSpaceId, mode } = run
  for (let attempt = 0; ; attempt++) {
    try {
      return await askQuestion(client, { knowledgeSpaceId, query, ...omitUndefined({ mode }) })
    } catch (error) {
      const delay = RETRY_DELAYS_MS[attempt]
      const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
      if (!isBusy || delay === undefined) throw error
      await sleep(Math.max(delay, (error.retryAfter ?? 0) * 1000))
    }
  }
}

/**
 * Finds passage ids that no longer exist: ids change when a document is divided again, and such a label is not a miss.
 */
class PassageIds {
  readonly #client: Client
  readonly #spaceId: string
  #all: Promise<Set<string> | undefined> | undefined

  constructor(client: Client, spaceId: string) {
    this.#client = client
    this.#spaceId = spaceId
  }

  /** The expected ids that do not exist any more. */
  async findMissing(expected: readonly GoldenEvidence[], bundle: unknown): Promise<Set<string>> {
    const evidenceJson = JSON.stringify(bundle ?? null)
    const unseen = expected.flatMap((each) =>
      'nodeId' in each && !evidenceJson.includes(each.nodeId) ? [each.nodeId] : [],
    )
    if (unseen.length === 0) return new Set()
    this.#all ??= this.#loadAll()
    const all = await this.#all
    return new Set(all === undefined ? [] : unseen.filter((id) => !all.has(id)))
  }

  /** Loads the ids of all passages; `undefined` for a space with too many documents. */
  async #loadAll(): Promise<Set<string> | undefined> {
    const ids = new Set<string>()
    let documents = 0
    const path = { id: this.#spaceId }
    const pages = paginate((query) => this.#client.request('GET /knowledge-spaces/{id}/documents', { path, query }), {
      pageSize: PAGE_SIZE,
    })
    for await (const { id: documentId, parserStatus } of pages) {
      if (parserStatus !== 'parsed') continue
      if (++documents > MAX_SCANNED_DOCUMENTS) return undefined
      const outline = await this.#client.request('GET /knowledge-spaces/{id}/documents/{documentId}/outline', {
        path: { ...path, documentId },
      })
      // Ids of the outline, at any depth.
      for (const [id] of JSON.stringify(outline.nodes).matchAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g))
        ids.add(id)
    }
    return ids
  }
}
