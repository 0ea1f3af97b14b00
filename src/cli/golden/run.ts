import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.js'
import { ApiError, ConnectionError } from '../../client/errors.js'
import { paginate } from '../../client/pages.js'
import type { QueryBody } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { checkAnswer } from '../../lib/text/expected-answer.js'
import { type Answer, askQuestion } from '../query/ask.js'
import { Anchors } from './anchors.js'
import { anchorText } from './expectation.js'
import { type CaseResult, measureEvidence, type Wanted } from './measure.js'
import { type GoldenCase, readCase } from './question.js'

export interface RunOptions {
  spaceId: string
  mode?: NonNullable<QueryBody['mode']>
  /** Number of evidence items that are compared. */
  k: number
  concurrency: number
  onDone: (result: CaseResult) => void
}

const PAGE = 100
/** Delays before retries while the service is busy or does not respond. */
const RETRY_PAUSES_MS = [250, 1_000, 4_000]
/** Documents scanned for missing passage ids; more would take minutes. */
const MAX_LOOKED_THROUGH = 2_000

/** Loads the golden questions of a space. */
export async function storedCases(client: Client, spaceId: string): Promise<GoldenCase[]> {
  const cases: GoldenCase[] = []
  const pages = paginate(
    ({ limit, cursor }) =>
      client.request('GET /knowledge-spaces/{id}/golden-questions', {
        path: { id: spaceId },
        query: { limit: String(limit), ...defined({ cursor }) },
      }),
    { pageSize: PAGE },
  )
  for await (const golden of pages) cases.push(readCase(golden, `golden question ${golden.id}`))
  return cases
}

/** Sends every question, several in parallel, and measures the evidence. Results are in the order of the questions. */
export async function runCases(client: Client, cases: readonly GoldenCase[], run: RunOptions): Promise<CaseResult[]> {
  const anchors = new Anchors(client, run.spaceId)
  const results: CaseResult[] = []
  const ids = new Ids(client, run.spaceId)
  let next = 0
  const worker = async (): Promise<void> => {
    for (;;) {
      const place = next++
      const golden = cases[place]
      if (golden === undefined) return
      const result = await runCase(client, golden, { anchors, ids }, run)
      results[place] = result
      run.onDone(result)
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.concurrency, cases.length) }, worker))
  return results
}

/** @throws ConnectionError if the service does not respond: then no question can run */
async function runCase(
  client: Client,
  golden: GoldenCase,
  lookUp: { anchors: Anchors; ids: Ids },
  run: RunOptions,
): Promise<CaseResult> {
  const { id, question, tags, expect } = golden
  const base = { id, question, tags, missing: [], unresolved: [] }
  const labelled = golden.anchors.length + golden.evidenceIds.length > 0
  if (!labelled && golden.answerable === undefined && expect === undefined) return { ...base, status: 'unlabelled' }
  try {
    const { wanted, unresolved } = await resolveAll(golden, lookUp.anchors)
    const answer = await askPatiently(client, question, run)
    const gone = await lookUp.ids.gone(wanted, answer.evidenceBundle)
    const measurable = wanted.filter((each) => !('nodeId' in each) || !gone.has(each.nodeId))
    const lost = [...unresolved, ...[...gone].map((nodeId) => `no passage has the id ${nodeId} any more`)]
    const answered = answer.finishReason === 'retrieval-evidence'
    const { answer: text, evidenceState: state = 'unknown' } = answer
    return {
      ...base,
      status: labelled && measurable.length === 0 && expect === undefined ? 'unresolved' : 'measured',
      traceId: answer.traceId,
      ...defined({ mode: answer.resolvedMode, evidenceState: answer.evidenceState }),
      ...(measurable.length === 0 ? {} : measureEvidence(answer.evidenceBundle, measurable, run.k)),
      ...(golden.answerable === undefined ? {} : { answerable: answered === golden.answerable }),
      ...(expect === undefined ? {} : { answer: { ...checkAnswer(expect, { text, state }), text } }),
      unresolved: lost,
    }
  } catch (error) {
    if (error instanceof ConnectionError) throw error
    return { ...base, status: 'failed', error: error instanceof Error ? error.message : String(error) }
  }
}

async function resolveAll(golden: GoldenCase, anchors: Anchors): Promise<{ wanted: Wanted[]; unresolved: string[] }> {
  const wanted: Wanted[] = golden.evidenceIds.map((nodeId) => ({ text: `passage ${nodeId}`, nodeId }))
  const unresolved: string[] = []
  for (const anchor of golden.anchors) {
    const found = await anchors.resolve(anchor)
    if ('label' in found) wanted.push({ text: anchorText(anchor), label: found.label })
    else unresolved.push(found.unresolved)
  }
  return { wanted, unresolved }
}

async function askPatiently(client: Client, query: string, run: RunOptions): Promise<Answer> {
  const { spaceId: knowledgeSpaceId, mode } = run
  for (let attempt = 0; ; attempt++) {
    try {
      return await askQuestion(client, { knowledgeSpaceId, query, ...defined({ mode }) })
    } catch (error) {
      const pause = RETRY_PAUSES_MS[attempt]
      const busy = error instanceof ApiError && (error.status === 429 || error.status === 503)
      if (!busy || pause === undefined) throw error
      await sleep(Math.max(pause, (error.retryAfter ?? 0) * 1000))
    }
  }
}

/**
 * Finds passage ids that no longer exist: ids change when a document is divided again, and such a label is not a miss.
 */
class Ids {
  readonly #client: Client
  readonly #spaceId: string
  #all: Promise<Set<string> | undefined> | undefined

  constructor(client: Client, spaceId: string) {
    this.#client = client
    this.#spaceId = spaceId
  }

  /** The expected ids that do not exist any more. */
  async gone(wanted: readonly Wanted[], bundle: unknown): Promise<Set<string>> {
    const shown = JSON.stringify(bundle ?? null)
    const asked = wanted.flatMap((each) => ('nodeId' in each && !shown.includes(each.nodeId) ? [each.nodeId] : []))
    if (asked.length === 0) return new Set()
    this.#all ??= this.#read()
    const all = await this.#all
    return new Set(all === undefined ? [] : asked.filter((id) => !all.has(id)))
  }

  /** Loads the ids of all passages; `undefined` for a space with too many documents. */
  async #read(): Promise<Set<string> | undefined> {
    const ids = new Set<string>()
    let documents = 0
    const path = { id: this.#spaceId }
    const pages = paginate((query) => this.#client.request('GET /knowledge-spaces/{id}/documents', { path, query }), {
      pageSize: PAGE,
    })
    for await (const { id: documentId, parserStatus } of pages) {
      if (parserStatus !== 'parsed') continue
      if (++documents > MAX_LOOKED_THROUGH) return undefined
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
