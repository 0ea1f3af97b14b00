import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeCompounds, analyzeQuery } from '../../../lib/text/analyze.js'
import { type EmbeddedQuery, isTrained } from '../../library/index.js'
import { filterDeniedNodes } from '../../store/rows/permissions.js'
import type { PassageRow } from '../../store/rows/queries.js'
import { MAX_INDEX_CANDIDATES } from './rank.js'
import { heldBy, readAndRank } from './read-and-rank.js'
import { recall } from './recall.js'
import type { PassageScope } from './retrieval.js'
import { createQuestionWeights } from './term-weights.js'
import { type JudgedPassage, judgeWithheld, toJudgedQuestion, type WithheldPassage } from './withheld.js'

/**
 * Ranks all passages, as for a reader of the complete space, and judges the best one if this reader may not read it.
 * The result is all that the caller learns about withheld passages.
 */
export async function findWithheld(
  scope: PassageScope,
  own: {
    embedded: EmbeddedQuery | undefined
    idf: (term: string) => number
    passages: readonly PassageRow[]
  },
): Promise<WithheldPassage | undefined> {
  const { context, cache, query } = scope
  const { space, docs, nodes, profile, subject } = scope.admitted
  const question = toJudgedQuestion(query)
  if (question === undefined) return undefined
  const terms = analyzeQuery(question)
  // The reader's vector includes the numerals; with a trained model it lacks the terms of withheld passages.
  const isSameVector = !isTrained(space) && terms.join(' ') === analyzeQuery(query).join(' ')
  const embedded = isSameVector ? own.embedded : undefined
  const request = {
    terms,
    textK: MAX_INDEX_CANDIDATES,
    vectorK: MAX_INDEX_CANDIDATES,
    ...omitUndefined({ compounds: analyzeCompounds(question), docs, vector: embedded?.vector }),
    ...(embedded === undefined ? {} : { vectorSpace: embedded.vectorSpaceId, wantsBackground: true }),
  }
  const { found, hits } = await recall(scope, request, {})
  const { rewordings, frequencies, background } = found
  const idf = createQuestionWeights(query, frequencies, nodes)
  const calibration = isTrained(space) ? {} : { calibration: { background, nodes } }
  const ranking = { terms, rewordings, idf, cache, rerank: profile.rerank.enabled, nodes, hits, ...calibration }
  const { ranked, asked: statistics, loaded } = await readAndRank(context.db, space.key, ranking, undefined)
  const keys = ranked.map(({ key }) => key)
  const denied = await context.db.read(filterDeniedNodes(space.key, { subject }, keys))
  const heldIn = ({ key, title, body }: PassageRow) => heldBy(cache.get({ key, title, body }), terms, rewordings)
  return judgeWithheld({
    ...{ question, terms, rewordings, idf, ownIdf: own.idf, asked: statistics, scoreThreshold: profile.scoreThreshold },
    ranked: ranked.flatMap(({ key, final, features }): JudgedPassage[] => {
      const passage = loaded.get(key)
      if (passage === undefined) return []
      return [{ passage, final, held: heldIn(passage), ...omitUndefined({ features }) }]
    }),
    permitted: own.passages.map((one) => ({ text: one.body, held: heldIn(one) })),
    isWithheld: ({ passage }) => denied.has(passage.key),
  })
}
