import type { ModelReference } from '../base/model-reference.js'
import type { EngineContext } from '../context.js'
import { isBuiltin } from '../models/registry.js'
import { areCompatible, pairKey, type Says } from '../query/conflicts/model-judge.js'
import { judgeConflict, knownVerdict, type Unjudged, unjudgedAfter, writeVerdict } from '../rows/conflicts.js'
import type { SpaceRow } from '../rows/spaces.js'
import { profileOf } from '../spaces/profile.js'
import type { Read, Write } from '../storage/program.js'

/** Pairs per model call, as for an answer. */
const PAIRS = 4
/** Maximum pairs of one space after one publication; the rules decide about the rest until the next one. */
const MOST_PAIRS = 100
/** Background work: a slow model is acceptable. */
const TIMEOUT_MILLISECONDS = 60_000

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
  const model = (await db.read(profileOf(space.key))).reasoningModel ?? context.options.defaultGenerator
  if (isBuiltin(model)) return
  let left = MOST_PAIRS
  let after = 0
  try {
    for (;;) {
      const rows = await db.read(unjudgedAfter(space.key, after, PAIRS))
      if (rows.length === 0) return
      left -= await askModel(context, { space, model }, rows, left, signal)
      after = rows.at(-1)?.key ?? after
    }
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ space: space.id, error: String(error) }, 'a model did not judge the contradictions of a space')
  }
}

/** @returns number of pairs that were sent to the model */
async function askModel(
  context: EngineContext,
  of: { space: SpaceRow; model: ModelReference },
  rows: readonly Unjudged[],
  left: number,
  signal: AbortSignal,
): Promise<number> {
  const { db } = context
  const { key: spaceKey } = of.space
  const unknown = await db.read(unknownOf(spaceKey, of.model, rows))
  const asked = unknown.slice(0, left)
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MILLISECONDS)])
  const replies = asked.length === 0 ? [] : await areCompatible(context, of, asked.map(quotesOf), limited)
  const answers = replies.flatMap((isCompatible, place) => {
    const row = asked[place]
    return row === undefined ? [] : [{ pair: pairOf(of.model, row), isCompatible }]
  })
  await db.write(() => settle(spaceKey, of.model, rows, answers))
  return asked.length
}

const quotesOf = ({ one_quote, other_quote }: Unjudged): Says => [one_quote, other_quote]

const pairOf = (model: ModelReference, row: Unjudged): string => pairKey(model, quotesOf(row))

/** Contradictions whose sentences the model has not judged. */
function* unknownOf(spaceKey: number, model: ModelReference, rows: readonly Unjudged[]): Read<Unjudged[]> {
  const unknown: Unjudged[] = []
  for (const row of rows) if ((yield* knownVerdict(spaceKey, pairOf(model, row))) === undefined) unknown.push(row)
  return unknown
}

/** Stores the model's verdicts and applies them to the contradictions, inside the caller's transaction. */
function* settle(
  spaceKey: number,
  model: ModelReference,
  rows: readonly Unjudged[],
  answers: readonly { pair: string; isCompatible: boolean }[],
): Write<void> {
  for (const { pair, isCompatible } of answers)
    yield* writeVerdict(spaceKey, pair, isCompatible ? 'compatible' : 'contradict')
  for (const row of rows) {
    const verdict = yield* knownVerdict(spaceKey, pairOf(model, row))
    if (verdict !== undefined) yield* judgeConflict(spaceKey, row.key, verdict)
  }
}
