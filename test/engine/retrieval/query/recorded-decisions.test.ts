import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MemorySpace } from '../../../../bench/lib/memory-space.js'
import { findContainedTerms, PassageCache } from '../../../../src/engine/knowledge/derived/passage.js'
import { judgeEvidence } from '../../../../src/engine/retrieval/query/answerability.js'
import { findContradictions } from '../../../../src/engine/retrieval/query/conflicts/contradictions.js'
import { findMissingNames } from '../../../../src/engine/retrieval/query/names/missing-names.js'
import { answerType } from '../../../../src/engine/retrieval/query/question/answer-type.js'
import {
  describeExpectedEvidence,
  splitQuestions,
} from '../../../../src/engine/retrieval/query/question/expected-evidence.js'
import { findFacets } from '../../../../src/engine/retrieval/query/question/facets.js'
import { findRequestedKind, isKindMissing } from '../../../../src/engine/retrieval/query/question/requested-kind.js'
import { parseQuestionWords } from '../../../../src/engine/retrieval/query/question/words.js'
import { chooseQuotation } from '../../../../src/engine/retrieval/query/quotation/quote.js'
import { selectRelevantPassages } from '../../../../src/engine/retrieval/query/relevance.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

/**
 * Decisions of the rules on the texts that they were tuned with. The benches measure how often these are right; the
 * files record the decisions themselves. A change that alters them on purpose rewrites the files (`npm test --
 * test/engine/retrieval/query/recorded-decisions.test.ts -u`); review their diff with it. The halves of the data that the benches
 * report are not included.
 */
const recorded = (name: string) => join(import.meta.dirname, 'recorded', `${name}.txt`)
const DATA = join(import.meta.dirname, '..', '..', '..', '..', 'bench', 'answers', 'data')
const read = (name: string) => readFileSync(join(DATA, name), 'utf8').trim()
const linesOf = <T>(name: string): T[] =>
  read(name)
    .split('\n')
    .map((line) => JSON.parse(line))

interface Pair {
  question: string
  one: string
  other: string
}
const PAIRS = [
  ...linesOf<Pair>('contradictions.jsonl').filter((_, place) => place % 2 === 0),
  ...linesOf<Pair>('contradictions-prose.jsonl'),
]
type Languages = Record<string, { tune: { documents: string[]; questions: { text: string }[] } }>
const LANGUAGES: Languages = JSON.parse(read('languages.json'))
const ASKED = [
  ...PAIRS.map(({ question }) => question),
  ...linesOf<{ half: string; questions: string[] }>('clusters.jsonl')
    .filter(({ half }) => half === 'tune')
    .flatMap(({ questions }) => questions),
  ...Object.values(LANGUAGES).flatMap(({ tune }) => tune.questions.map(({ text }) => text)),
]

const short = (value: unknown): string =>
  JSON.stringify(value, (_, inner) => (typeof inner === 'number' ? Number(inner.toPrecision(4)) : inner))

it('the recorded conflicts between pairs of statements stay the same', async () => {
  const lines = PAIRS.flatMap(({ question, one, other }) => {
    const items = [one, other].map((text, place) => ({ text, title: '', document: String(place) }))
    const { conflicts, differences } = findContradictions(question, analyzeQuery(question), () => 2, items)
    return [
      `${question} | ${one} | ${other}`,
      ...conflicts.map((found) => `  conflict ${short(found)}`),
      ...differences.map((found) => `  no conflict ${short(found)}`),
    ]
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded('pairs'))
})

it('the recorded analyses of questions stay the same', async () => {
  const lines = [...new Set(ASKED)].flatMap((question) => {
    const terms = analyzeQuery(question)
    const half = new Set(terms.filter((_, place) => place % 2 === 0))
    return [
      question,
      `  ${short({ type: answerType(question), facets: findFacets(question), kind: findRequestedKind(question) })}`,
      `  ${short({ parts: splitQuestions(question), words: parseQuestionWords(question)(half) })}`,
      `  ${short(describeExpectedEvidence(question))}`,
    ]
  })
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded('questions'))
})

/** Ranking, judgement and quotation for questions over a space of texts. */
function askedOf(documents: readonly string[], questions: readonly string[]): string[] {
  const space = new MemorySpace(documents.map((text, place) => ({ id: String(place), title: '', text })))
  const cache = new PassageCache()
  return questions.flatMap((query) => {
    const { terms, ranked, statistics } = space.ask(query)
    const items = ranked.slice(0, 5).map(({ key, final, features }) => {
      const { title, body } = space.nodes[key] ?? { title: '', body: '' }
      return { title, text: body, score: final, ...(features && { features }) }
    })
    const evidence = items.slice(0, 3)
    const places = ranked.slice(0, 10).map((one) => {
      const { title, body } = space.nodes[one.key] ?? { title: '', body: '' }
      return { ...one, containedTerms: findContainedTerms(cache.get({ key: one.key, title, body }), terms) }
    })
    const kept = selectRelevantPassages(places, { idf: space.idf, statistics, topK: 10 })
    const passages = items.map((item) => ({ ...item, source: '' }))
    const quotation = chooseQuotation({ query, passages, idf: space.idf })
    const probability = quotation?.probability
    const nearest = evidence.map(({ title, text }) => ({ title, body: text, sentence: text }))
    return [
      query,
      `  ranked ${short(ranked.slice(0, 5).map(({ key, final }) => [key, final]))}`,
      `  kept ${short(kept.map(({ key }) => key))}`,
      `  state ${short(judgeEvidence({ query, terms, idf: space.idf, items, probability }))}`,
      `  quotation ${short(quotation?.units.map(({ passage, unit: { text } }) => [passage, text]))}`,
      `  missing ${short({ names: findMissingNames(query, evidence), kind: isKindMissing(query, nearest) })}`,
    ]
  })
}

describe('the recorded decisions on questions over small spaces', () => {
  it.each(Object.keys(LANGUAGES))('stay the same in the language %s', async (language) => {
    const { tune } = LANGUAGES[language]
    const lines = askedOf(
      tune.documents,
      tune.questions.map(({ text }) => text),
    )
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded(`space-${language}`))
  })

  it('stay the same for prose with contradictions', async () => {
    const pairs = linesOf<Pair>('contradictions-prose.jsonl')
    const lines = askedOf(
      pairs.flatMap(({ one, other }) => [one, other]),
      pairs.map(({ question }) => question),
    )
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(recorded('space-prose'))
  })
})
