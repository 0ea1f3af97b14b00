import { describe, expect, it } from 'vitest'
import { type JudgedItem, judgeEvidence } from '../../../../src/engine/retrieval/query/answerability.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

const ASKED = { weight: 8, nodes: 100, falloff: 0 }

function judge(query: string, items: JudgedItem[], probability = 0.9) {
  return judgeEvidence({ query, terms: analyzeQuery(query), idf: () => 2, statistics: ASKED, items, probability })
}

const item = (text: string, score = 0.9, title = ''): JudgedItem => ({ text, title, score })

describe('the evidence state of a query', () => {
  it('becomes answerable if the quotation probably contains the answer', () => {
    expect(judge('who improved the steam engine', [item('Watt improved the steam engine.')])).toEqual({
      state: 'answerable',
      conflicts: [],
      differences: [],
      uncovered: [],
    })
  })

  it('becomes partial if the quotation is less likely to contain the answer', () => {
    const text = 'Watt improved the steam engine.'
    expect(judge('who improved the steam engine', [item(text)], 0.6).state).toBe('partial')
    const open = judge('Brazilian coffee exports by steam', [item(text)], 0.2)
    expect(open.state).toBe('partial')
    expect(open.uncovered).toEqual(['Brazilian', 'coffee', 'exports'])
  })

  it('becomes not-enough-evidence without passages and with low scores only', () => {
    expect(judge('anything', []).state).toBe('not-enough-evidence')
    expect(judge('steam engine', [item('steam engine', 0.05)]).state).toBe('not-enough-evidence')
  })

  it('becomes partial if tables have rows for the requested figures, unless a name of the question is missing', () => {
    const table = item('Total current assets | 212', 0.05, 'Verizon')
    const state = (query: string) =>
      judgeEvidence({
        query,
        terms: analyzeQuery(query),
        idf: () => 2,
        statistics: ASKED,
        items: [table],
        hasFigures: true,
      }).state
    expect(state('What is the quick ratio of Verizon?')).toBe('partial')
    expect(state('What is the quick ratio of Pfizer?')).toBe('not-enough-evidence')
  })

  it('comes with the uncovered part of a Chinese question as one run of characters', () => {
    expect(judge('法国总统是谁', [item('法国在欧洲。')]).uncovered).toEqual(['国总统是'])
  })

  it('becomes conflict if comparable passages give different numbers for the same fact', () => {
    const verdict = judge('height of the Hilden tower', [
      item('The Hilden tower has a height of 212 metres.'),
      item('The Hilden tower has a height of 198 metres.', 0.85),
    ])
    expect(verdict).toMatchObject({
      state: 'conflict',
      conflicts: [{ item: 0, other: 1, reason: 'different numbers: 212 metres and 198 metres' }],
    })
  })

  it('becomes conflict if one passage denies the other, or both date the same event differently', () => {
    const denied = judge('is Hilden tower open to visitors', [
      item('The Hilden tower is open to visitors in winter.'),
      item('The Hilden tower is not open to visitors in winter.'),
    ])
    expect(denied.conflicts).toMatchObject([{ reason: 'negation' }])
    const dated = judge('when was the Hilden tower finished', [
      item('The Hilden tower was finished in 1931.'),
      item('The Hilden tower was finished in 1934.'),
    ])
    expect(dated.conflicts).toMatchObject([{ reason: 'different dates: 1931 and 1934' }])
  })

  it('becomes conflict if the same sentence has different names, unless the question contains one of them', () => {
    const named = [item('Doctor Miller founded the institute.'), item('Doctor Sanchez founded the institute.')]
    expect(judge('who founded the institute', named).conflicts).toMatchObject([
      { reason: 'different names: Miller and Sanchez' },
    ])
    expect(judge('which institute did Miller found', named).conflicts).toEqual([])
  })

  it('becomes conflict even if the second of two similar passages has half the score of the first', () => {
    const features = {
      coverage: 1,
      titleCoverage: 0,
      bodyCoverage: 1,
      sentenceCoverage: 1,
      strength: 0.4,
      pairs: 0.7,
      earliness: 1,
    }
    const alike = (metres: number, score: number) => ({
      ...item(`The Hilden tower has a height of ${metres} metres.`, score),
      features,
    })
    expect(judge('height of the Hilden tower', [alike(212, 0.9), alike(198, 0.45)]).state).toBe('conflict')
    const poor = { ...alike(198, 0.2), features: { ...features, sentenceCoverage: 0.2, pairs: 0, strength: 0.05 } }
    expect(judge('height of the Hilden tower', [alike(212, 0.9), poor]).state).toBe('answerable')
  })

  it('stays answerable if passages describe different years or subjects, agree, or differ much in score', () => {
    const years = judge('revenue of Hilden', [
      item('The revenue of Hilden was 5.2 million in 2021.'),
      item('The revenue of Hilden was 6.1 million in 2022.'),
    ])
    const things = judge('height of the Hilden tower', [
      item('The Hilden tower has a height of 212 metres.'),
      item('The Marl tower has a height of 198 metres.'),
    ])
    const same = judge('height of the Hilden tower', [
      item('The Hilden tower has a height of 1,212 metres.'),
      item('The height of the Hilden tower is 1212 metres.'),
    ])
    const weaker = judge('height of the Hilden tower', [
      item('The Hilden tower has a height of 212 metres.', 0.9),
      item('The Hilden tower has a height of 198 metres.', 0.2),
    ])
    for (const verdict of [years, things, same, weaker]) expect(verdict.state).toBe('answerable')
  })
})

describe('the thresholds of the evidence state', () => {
  const ENGINE = 'Watt improved the steam engine.'
  const state = (query: string, items: JudgedItem[], more: object = {}) =>
    judgeEvidence({ query, terms: analyzeQuery(query), idf: () => 2, statistics: ASKED, items, ...more }).state

  it('require a confidence of 0.1 for partial and a probability of 0.7 for answerable', () => {
    const at = (score: number, probability: number) =>
      state('who improved the steam engine', [item(ENGINE, score)], { probability })
    expect(at(0.09, 0.9)).toBe('not-enough-evidence')
    expect([at(0.1, 0.69), at(0.1, 0.7), at(0.9, 0.69)]).toEqual(['partial', 'answerable', 'partial'])
    expect(state('who improved the steam engine', [item(ENGINE)])).toBe('partial')
  })

  it('require no covered terms if vectors or a rerank model are confident', () => {
    const query = 'Brazilian coffee exports by steam'
    const sure = (signs: object) => state(query, [item(ENGINE)], { statistics: { ...ASKED, ...signs } })
    expect(sure({})).toBe('partial')
    expect(sure({ byVectors: 0.5 })).toBe('answerable')
    expect(sure({ byRerank: 0.5 })).toBe('answerable')
    expect(sure({ byVectors: 0.49, byRerank: 0.2 })).toBe('partial')
  })

  it('count terms covered by the title, by known terms of the passage and by rewordings', () => {
    const query = 'Brazilian coffee exports'
    const judged = (one: JudgedItem, more: object = {}) =>
      judgeEvidence({ query, terms: analyzeQuery(query), idf: () => 2, statistics: ASKED, items: [one], ...more })
    expect(judged(item('Exports.', 0.9, 'Brazilian coffee')).uncovered).toEqual([])
    expect(judged({ ...item('Nothing.'), containedTerms: analyzeQuery('coffee exports') }).uncovered).toEqual([
      'Brazilian',
    ])
    const rewordings = [{ queryTerms: analyzeQuery('coffee'), documentTerms: analyzeQuery('beans') }]
    expect(judged(item('Brazilian beans.'), { rewordings }).uncovered).toEqual(['exports'])
    expect(judged(item('Brazilian coffee.'), { wordsOf: () => ['as told'] }).uncovered).toEqual(['as told'])
  })

  it('require more confidence if no passage mentions the name in the question', () => {
    const passage = 'The capital of a column is its upper part.'
    const at = (query: string, score: number, more: object = {}) => state(query, [item(passage, score)], more)
    for (const query of ['What is the capital of Norway?', 'what is the capital of Norway']) {
      expect([0.4, 0.99].map((score) => at(query, score))).toEqual(['not-enough-evidence', 'partial'])
      expect(at(query, 0.4, { statistics: { ...ASKED, byVectors: 0.5 } })).toBe('partial')
    }
    expect(at('What is the capital of a column?', 0.4)).toBe('partial')
    // If one of two names is mentioned, the passage supports the question.
    expect(state('Did Watt meet Newcomen?', [item(ENGINE, 0.4)])).toBe('partial')
    // A statement may use another name than its evidence.
    expect(at('Oslo in Norway is the capital of the north.', 0.4)).toBe('partial')
  })

  it('accept a number in place of the measure word of the question', () => {
    const query = 'How tall is the tower?'
    expect(judge(query, [item('The tower has 40 floors.')]).uncovered).toEqual([])
    expect(judge(query, [item('The tower has a door.')]).uncovered).toEqual(['tall'])
    expect(judge('How long?', [item('It takes 2 hours.')]).uncovered).toEqual(['long'])
  })

  it('allow at most partial for a question with an unmentioned name, but answerable for a noun phrase', () => {
    const of = (query: string) => judge(query, [item('Amcor had net sales of 14,694 million.')]).state
    expect(of('What were the net sales of Amcor?')).toBe('answerable')
    expect(of('What were the net sales of Boeing?')).toBe('partial')
    expect(of('What were the net sales of Boeing？')).toBe('partial')
    expect(of('the net sales of Boeing')).toBe('answerable')
  })

  it('let no conflict through below the confidence threshold, and report the uncovered terms', () => {
    const query = 'height of the Hilden tower'
    const items = [212, 198].map((metres) => item(`The Hilden tower has a height of ${metres} metres.`, 0.05))
    expect(judge(query, items)).toEqual({ state: 'not-enough-evidence', conflicts: [], differences: [], uncovered: [] })
    expect(judge(query, [item('The tower.', 0.05)]).uncovered).toEqual(['height', 'Hilden'])
  })
})
