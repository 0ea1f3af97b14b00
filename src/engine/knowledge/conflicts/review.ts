import type { ModelReference } from '../../base/model-reference.js'
import { type EngineContext, getProfile } from '../../library/index.js'
import { isBuiltin } from '../../models/index.js'
import type { Read, Write } from '../../store/program.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import {
  findVerdict,
  listUnjudgedAfter,
  setConflictVerdict,
  storeVerdict,
  type UnjudgedConflict,
} from '../rows/conflicts.js'
import { areCompatible, hashPair, type SentencePair } from './model-judge.js'

/** Pairs per model call, as for an answer. */
const PAIR_BATCH = 4
/** Maximum pairs of one space after one publication; the rules decide about the rest until the next one. */
const MAX_REVIEWED_PAIRS = 100
/** Background work: a slow model is acceptable. */
const REVIEW_TIMEOUT_MS = 60_000

/**
 * Lets the reasoning model of a space review the contradictions that the rules found: pairs that it finds compatible
 * are listed as differences. Each pair of sentences is sent once, within the space's budget. Without a model, or when
 * it fails, the rules decide.
 *
 * @throws KsError when the signal aborts
 */
export async function reviewContradictions(
  context: EngineContext,
  space: SpaceRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = context
  const model = (await db.read(getProfile(space.key))).reasoningModel ?? context.options.defaultGenerator
  if (isBuiltin(model)) return
  let remaining = MAX_REVIEWED_PAIRS
  let after = 0
  try {
    for (;;) {
      const rows = await db.read(listUnjudgedAfter(space.key, after, PAIR_BATCH))
      if (rows.length === 0) return
      remaining -= await judgePairs(context, { space, model, remaining }, rows, signal)
      after = rows.at(-1)?.key ?? after
    }
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ space: space.id, error: String(error) }, 'a model did not judge the contradictions of a space')
  }
}

/** @returns number of pairs that were sent to the model */
async function judgePairs(
  context: EngineContext,
  { remaining, ...scope }: { space: SpaceRow; model: ModelReference; remaining: number },
  rows: readonly UnjudgedConflict[],
  signal: AbortSignal,
): Promise<number> {
  const { db } = context
  const { key: spaceKey } = scope.space
  const unknown = await db.read(findUnjudged(spaceKey, scope.model, rows))
  const selected = unknown.slice(0, remaining)
  const limited = AbortSignal.any([signal, AbortSignal.timeout(REVIEW_TIMEOUT_MS)])
  const replies = selected.length === 0 ? [] : await areCompatible(context, scope, selected.map(getQuotes), limited)
  const answers = replies.flatMap((isCompatible, index) => {
    const row = selected[index]
    return row === undefined ? [] : [{ pair: hashQuotes(scope.model, row), isCompatible }]
  })
  await db.write(() => storeVerdicts(spaceKey, scope.model, rows, answers))
  return selected.length
}

const getQuotes = ({ one_quote, other_quote }: UnjudgedConflict): SentencePair => [one_quote, other_quote]

const hashQuotes = (model: ModelReference, row: UnjudgedConflict): string => hashPair(model, getQuotes(row))

/** Contradictions whose sentences the model has not judged. */
function* findUnjudged(
  spaceKey: number,
  model: ModelReference,
  rows: readonly UnjudgedConflict[],
): Read<UnjudgedConflict[]> {
  const unknown: UnjudgedConflict[] = []
  for (const row of rows) if ((yield* findVerdict(spaceKey, hashQuotes(model, row))) === undefined) unknown.push(row)
  return unknown
}

/** Stores the model's verdicts and applies them to the contradictions, inside the caller's transaction. */
function* storeVerdicts(
  spaceKey: number,
  model: ModelReference,
  rows: readonly UnjudgedConflict[],
  answers: readonly { pair: string; isCompatible: boolean }[],
): Write<void> {
  for (const { pair, isCompatible } of answers)
    yield* storeVerdict(spaceKey, pair, isCompatible ? 'compatible' : 'contradict')
  for (const row of rows) {
    const verdict = yield* findVerdict(spaceKey, hashQuotes(model, row))
    if (verdict !== undefined) yield* setConflictVerdict(spaceKey, row.key, verdict)
  }
}
