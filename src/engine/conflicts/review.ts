import type { ModelReference } from '../base/model-reference.js'
import type { EngineContext } from '../context.js'
import { isBuiltin } from '../models/registry.js'
import { areCompatible, pairKey, type Says } from '../query/conflicts/model-judge.js'
import type { SpaceRow } from '../rows/spaces.js'
import { profileOf } from '../spaces/profile.js'
import { type Read, sql } from '../storage/program.js'

/** Pairs that a model is asked about at a time, as for an answer. */
const PAIRS = 4
/** … and of one space after one publication; the rules' word stands for the rest, until the next one. */
const MOST_PAIRS = 100
/** Nobody waits: a slow model may think. */
const TIMEOUT_MILLISECONDS = 60_000

interface Unjudged {
  key: number
  one_quote: string
  other_quote: string
}

/**
 * Lets the reasoning model of a space look at the contradictions that the rules found: those that it finds compatible
 * are listed as differences. Each pair of sentences is asked about once, within the space's budget. Without a model, and where it
 * fails, the rules' word stands.
 *
 * @throws KsError when the signal aborts
 */
export async function reviewContradictions(
  context: EngineContext,
  space: SpaceRow,
  signal: AbortSignal,
): Promise<void> {
  const { db, log } = context
  const model = db.now(profileOf(space.key)).reasoningModel ?? context.options.defaultGenerator
  if (isBuiltin(model)) return
  let left = MOST_PAIRS
  let after = 0
  try {
    for (;;) {
      const rows = db.now(unjudgedAfter(space.key, after, PAIRS))
      if (rows.length === 0) return
      left -= await judge(context, { space, model }, rows, left, signal)
      after = rows.at(-1)?.key ?? after
    }
  } catch (error) {
    signal.throwIfAborted()
    log.warn({ space: space.id, error: String(error) }, 'a model did not judge the contradictions of a space')
  }
}

/** @returns how many pairs the model was asked about */
async function judge(
  context: EngineContext,
  of: { space: SpaceRow; model: ModelReference },
  rows: readonly Unjudged[],
  left: number,
  signal: AbortSignal,
): Promise<number> {
  const { db } = context
  const { key: spaceKey } = of.space
  const pairOf = ({ one_quote, other_quote }: Unjudged): Says => [one_quote, other_quote]
  const unknown = rows.filter((row) => db.now(knownVerdict(spaceKey, pairKey(of.model, pairOf(row)))) === undefined)
  const asked = unknown.slice(0, left)
  const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MILLISECONDS)])
  const replies = asked.length === 0 ? [] : await areCompatible(context, of, asked.map(pairOf), limited)
  await db.write(function* () {
    for (const [place, isCompatible] of replies.entries()) {
      const row = asked[place]
      if (row === undefined) continue
      yield* sql.run('INSERT OR REPLACE INTO conflict_verdicts (space_key, pair, verdict) VALUES (?, ?, ?)', [
        spaceKey,
        pairKey(of.model, pairOf(row)),
        isCompatible ? 'compatible' : 'contradict',
      ])
    }
    for (const row of rows) {
      const verdict = yield* knownVerdict(spaceKey, pairKey(of.model, pairOf(row)))
      if (verdict === undefined) continue
      const relation = verdict === 'compatible' ? 'other' : 'contradiction'
      yield* sql.run('UPDATE conflicts SET verdict = ?, relation = ? WHERE space_key = ? AND key = ?', [
        verdict,
        relation,
        spaceKey,
        row.key,
      ])
    }
  })
  return asked.length
}

function* unjudgedAfter(spaceKey: number, after: number, limit: number): Read<Unjudged[]> {
  return yield* sql.all<Unjudged>(
    `SELECT key, one_quote, other_quote FROM conflicts
     WHERE space_key = ? AND relation = 'contradiction' AND verdict IS NULL AND key > ? ORDER BY key LIMIT +?`,
    [spaceKey, after, limit],
  )
}

function* knownVerdict(spaceKey: number, pair: string): Read<string | undefined> {
  return (yield* sql.get<{ verdict: string }>(
    'SELECT verdict FROM conflict_verdicts WHERE space_key = ? AND pair = ?',
    [spaceKey, pair],
  ))?.verdict
}
