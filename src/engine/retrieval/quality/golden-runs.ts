import { setTimeout as sleep } from 'node:timers/promises'
import { ERRORS, KsError } from '../../../contract/errors.js'
import type {
  CreateGoldenRunBody,
  EvidenceAnchor,
  GoldenCase,
  GoldenRun,
  GoldenRunResult,
} from '../../../contract/gateway/golden-runs.js'
import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import { parseGoldenCase } from '../../../contract/golden-case.js'
import { LIMITS } from '../../../contract/limits.js'
import { toErrorMessage } from '../../../lib/error-message.js'
import { computeGoldenMetrics, type QuestionFigures } from '../../../lib/golden-metrics.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { checkAnswer } from '../../../lib/text/expected-answer.js'
import { BackgroundService } from '../../base/background-service.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import { retryUntilWritten } from '../../base/retry-until-written.js'
import type { EngineContext } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { readablePage } from '../../store/readable.js'
import {
  endGoldenRun,
  filterPublishedNodes,
  findGoldenRun,
  insertGoldenResult,
  insertGoldenRun,
  listGoldenResultsAfter,
  listGoldenRunsBefore,
  type RunningGoldenRun,
  removeGoldenRun,
  toGoldenResult,
  toGoldenRun,
} from '../../store/rows/quality/golden-runs.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import type { QueryServices } from '../query/retrieval.js'
import { startQuery } from '../query/run.js'
import { listGoldenAfter, toGolden } from '../rows/quality/golden-questions.js'
import { AnchorResolver } from './golden-anchors.js'
import { type GoldenEvidence, hashEvidence, judgeOutcome, measureEvidence } from './golden-measure.js'
import { readSpacePage } from './space-page.js'

/** Delays before retries while no query can start. */
const RETRY_DELAYS_MS = [250, 1_000, 4_000]

interface Answer {
  text: string
  bundle: EvidenceBundle
  isAnswered: boolean
  traceId: string
  mode?: NonNullable<GoldenRunResult['mode']>
}

/** Who asks, where, and how. */
interface RunSettings extends Pick<CreateGoldenRunBody, 'mode' | 'k' | 'concurrency'> {
  caller: Caller
  space: SpaceRow
}

/** Result of a question, with the passages that it quotes. */
interface CaseMeasurement {
  result: GoldenRunResult
  quoted: string[]
}

/**
 * Runs golden questions in the background, as their caller would ask them. The run belongs to this gateway: when it
 * stops, the cleanup of gateways marks the run as failed; when its row is deleted, the run stops with the next result.
 */
export class GoldenRuns extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'a golden run was interrupted'
  readonly #queries: QueryServices

  constructor(queries: QueryServices) {
    super(queries.context)
    this.#queries = queries
  }

  /** @throws KsError `not-found`, `invalid-request` without questions or with two of one id */
  async create(caller: Caller, spaceId: string, body: CreateGoldenRunBody): Promise<GoldenRun> {
    const { db, instance } = this.context
    const space = await db.read(findSpace(caller.tenant, spaceId))
    const { recordAnswer: _, ...reader } = caller
    const cases = selectCases(await db.read(loadCases(reader, space, body)), body)
    const run = await writeReply(db, caller, () =>
      insertGoldenRun(caller, space, { ...body, questions: cases.length, gateway: instance }),
    )
    const claim = { tenant: space.tenant, spaceKey: space.key, id: run.id, gateway: instance }
    this.track(this.#run({ caller: reader, space, ...body }, claim, cases))
    return run
  }

  /** Never rejects. */
  async #run(settings: RunSettings, run: RunningGoldenRun, cases: readonly GoldenCase[]): Promise<void> {
    const { caller, space, concurrency } = settings
    const { db, log } = this.context
    const signal = this.stopSignal
    const anchors = new AnchorResolver(db, caller, space)
    // in the order of the questions, so that clients compute the same sums
    const measured: QuestionFigures[] = []
    let next = 0
    let isStopped = false
    const worker = async (): Promise<void> => {
      while (!isStopped) {
        const index = next++
        const golden = cases[index]
        if (golden === undefined) return
        const { result, quoted } = await this.#measure(settings, anchors, golden, index)
        signal.throwIfAborted()
        const isOwn = await db.write(() => insertGoldenResult(caller, run, result, quoted), { lock: space.key })
        if (!isOwn) isStopped = true
        if (result.status === 'measured') measured[index] = toFigures(result)
      }
    }
    try {
      const ended = await Promise.all(Array.from({ length: Math.min(concurrency, cases.length) }, worker)).then(
        () => ({ metrics: computeGoldenMetrics(Object.values(measured)) }),
        (error: unknown) => {
          isStopped = true
          signal.throwIfAborted()
          return { error: toErrorMessage(error) }
        },
      )
      await retryUntilWritten(this.context, 'the end of a golden run', signal, () =>
        db.write(() => endGoldenRun(run, ended)),
      )
    } catch (error) {
      // At shutdown the run is left: the next start marks it as failed.
      log.warn({ run: run.id, error: toErrorMessage(error) }, this.failureMessage)
    }
  }

  async #measure(
    settings: RunSettings,
    anchors: AnchorResolver,
    golden: GoldenCase,
    index: number,
  ): Promise<CaseMeasurement> {
    const { caller, space, k } = settings
    const { id, question, tags, expect, answerable, expectedEvidenceIds } = golden
    const base = { index, id, question, tags, missing: [], unresolved: [], evidence: [] }
    const isLabelled = golden.anchors.length + expectedEvidenceIds.length > 0
    if (!isLabelled && answerable === undefined && expect === undefined)
      return { result: { ...base, status: 'unlabelled' }, quoted: [] }
    try {
      const { expected, unresolved } = await resolveEvidence(golden, anchors)
      const answer = await this.#askWithRetries(settings, question)
      const { traceId, bundle, text, isAnswered, ...answered } = answer
      const existing = await this.context.db.read(filterPublishedNodes(caller, space, expectedEvidenceIds))
      const missingIds = expectedEvidenceIds.filter((nodeId) => !existing.has(nodeId))
      const measurable = expected.filter((evidence) => !('nodeId' in evidence) || existing.has(evidence.nodeId))
      const figures = {
        ...(measurable.length === 0 ? {} : measureEvidence(bundle, measurable, k)),
        ...(answerable === undefined ? {} : { answerable: isAnswered === answerable }),
        ...(expect === undefined ? {} : { answer: { ...checkAnswer(expect, { text, state: bundle.state }), text } }),
      }
      const isMeasured = !isLabelled || measurable.length > 0 || expect !== undefined
      const result: GoldenRunResult = {
        ...base,
        status: isMeasured ? 'measured' : 'unresolved',
        ...omitUndefined({ outcome: isMeasured ? judgeOutcome(figures) : undefined }),
        traceId,
        ...answered,
        evidenceState: bundle.state,
        ...figures,
        unresolved: [...unresolved, ...missingIds.map((nodeId) => `no passage has the id ${nodeId} any more`)],
        evidence: hashEvidence(bundle),
      }
      return { result, quoted: [...expectedEvidenceIds, ...bundle.items.map(({ nodeId }) => nodeId)] }
    } catch (error) {
      return { result: { ...base, status: 'failed', error: toErrorMessage(error) }, quoted: [] }
    }
  }

  async #askWithRetries(settings: RunSettings, query: string): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#ask(settings, query)
      } catch (error) {
        const delay = RETRY_DELAYS_MS[attempt]
        const status = error instanceof KsError ? ERRORS[error.code].status : undefined
        const isBusy = status === 429 || status === 503
        if (!isBusy || delay === undefined || this.isStopped) throw error
        await sleep(delay, undefined, { signal: this.stopSignal })
      }
    }
  }

  async #ask({ caller, space, mode }: RunSettings, query: string): Promise<Answer> {
    const signal = this.stopSignal
    const body = { knowledgeSpaceId: space.id, query, activeDocumentIds: [], activeEntityIds: [] }
    const run = await startQuery(this.#queries, caller, { ...body, ...omitUndefined({ mode }) }, signal)
    let text = ''
    for await (const { event, data } of run.frames()) {
      if (event === 'answer.delta') text += data.delta
      else if (event === 'answer.error') throw new KsError('internal', `the answer stopped early: ${data.error}`)
      else {
        const { evidenceBundle: bundle, mode: resolvedMode } = data.metadata ?? {}
        const isAnswered = data.finishReason === 'retrieval-evidence'
        if (bundle !== undefined)
          return { text, bundle, isAnswered, traceId: run.traceId, ...omitUndefined({ mode: resolvedMode }) }
      }
    }
    throw new KsError('unavailable', 'the answer stopped early')
  }
}

/** Without the texts: a run may have thousands of results. */
function toFigures({ recall, reciprocalRank, answerable, answer }: GoldenRunResult): QuestionFigures {
  return { recall, reciprocalRank, answerable, answer: answer && { right: answer.right } }
}

/** The questions of a request, those of the space, or both. */
function* loadCases(
  reader: Caller,
  space: SpaceRow,
  { questions, stored }: CreateGoldenRunBody,
): Read<readonly GoldenCase[]> {
  if (questions !== undefined && !stored) return questions
  const cases = [...(questions ?? [])]
  for (let after = ''; ; ) {
    const rows = yield* listGoldenAfter(reader, space, after, LIMITS.page.cap)
    for (const row of rows) cases.push(parseGoldenCase(toGolden(space, row), `golden question ${row.id}`))
    after = rows.at(-1)?.id ?? after
    if (rows.length < LIMITS.page.cap) return cases
  }
}

function selectCases(cases: readonly GoldenCase[], { tags, limit }: CreateGoldenRunBody): readonly GoldenCase[] {
  const ids = new Set<string>()
  for (const { id } of cases) {
    if (ids.has(id)) throw new KsError('invalid-request', `two questions have the id ${JSON.stringify(id)}`)
    ids.add(id)
  }
  const tagged = tags === undefined ? cases : cases.filter((golden) => golden.tags.some((tag) => tags.includes(tag)))
  if (tagged.length === 0) throw new KsError('invalid-request', 'there are no questions to run')
  return tagged.slice(0, limit)
}

async function resolveEvidence(
  { anchors, expectedEvidenceIds }: GoldenCase,
  resolver: AnchorResolver,
): Promise<{ expected: GoldenEvidence[]; unresolved: string[] }> {
  const expected: GoldenEvidence[] = expectedEvidenceIds.map((nodeId) => ({ text: `passage ${nodeId}`, nodeId }))
  const unresolved: string[] = []
  for (const anchor of anchors) {
    const resolution = await resolver.resolve(anchor)
    if ('label' in resolution) expected.push({ text: formatAnchor(anchor), label: resolution.label })
    else unresolved.push(resolution.unresolved)
  }
  return { expected, unresolved }
}

/** Formats an anchor for reports: `guide.md > Fees > "nine crowns"`. */
function formatAnchor({ document, heading, quote }: EvidenceAnchor): string {
  return [document, ...heading, ...(quote === undefined ? [] : [JSON.stringify(quote)])].join(' > ')
}

export function listGoldenRuns(caller: Caller, spaceId: string, page: PageRequest): Read<Page<GoldenRun>> {
  return readSpacePage(caller, spaceId, page, {
    filter: ['golden-runs'],
    maxLimit: LIMITS.page.cap,
    listRows: (space, before, limit) => listGoldenRunsBefore(caller, space, before, limit),
    toItem: toGoldenRun,
  })
}

export function* getGoldenRun(caller: Caller, spaceId: string, id: string): Read<GoldenRun> {
  return yield* findGoldenRun(caller, yield* findSpace(caller.tenant, spaceId), id)
}

export function* listGoldenRunResults(
  caller: Caller,
  spaceId: string,
  id: string,
  page: PageRequest,
): Read<Page<GoldenRunResult>> {
  const run = yield* getGoldenRun(caller, spaceId, id)
  const filter = hashFilter('golden-run-results', caller.tenant, run.id)
  const after = page.cursor === undefined ? -1 : Number(decodeCursor(page.cursor, filter).after[0])
  const limit = Math.min(page.limit, LIMITS.page.cap)
  const rows = yield* listGoldenResultsAfter(caller.tenant, run.id, after, limit + 1)
  return readablePage(rows, limit, toGoldenResult, ({ sequence }) => encodeCursor({ after: [sequence] }, filter))
}

export async function deleteGoldenRun(db: Driver, caller: Caller, spaceId: string, id: string): Promise<void> {
  await writeReply(db, caller, function* () {
    const run = yield* findGoldenRun(caller, yield* findSpace(caller.tenant, spaceId), id)
    yield* removeGoldenRun({ tenant: caller.tenant, id: run.id })
  })
}
