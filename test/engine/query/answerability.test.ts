import { describe, expect, it } from 'vitest'
import { evidenceState, type JudgedItem } from '../../../src/engine/query/answerability.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'

const ASKED = { weight: 8, nodes: 100, falloff: 0 }

function judge(query: string, items: JudgedItem[]) {
  return evidenceState({ query, terms: analyzeQuery(query), idf: () => 2, asked: ASKED, items })
}

const item = (text: string, score = 0.9, title = ''): JudgedItem => ({ text, title, score })

describe('the evidence state', () => {
  it('is answerable when the best item is sure and the question is covered', () => {
    expect(judge('who improved the steam engine', [item('Watt improved the steam engine.')])).toEqual({
      state: 'answerable',
      conflicts: [],
      differences: [],
      uncovered: [],
    })
  })

  it('is partial when the best item is less sure, or much of the question is left open', () => {
    const text = 'Watt improved the steam engine.'
    expect(judge('who improved the steam engine', [item(text, 0.3)]).state).toBe('partial')
    const open = judge('Brazilian coffee exports by steam', [item(text)])
    expect(open.state).toBe('partial')
    expect(open.uncovered).toEqual(['Brazilian', 'coffee', 'exports'])
  })

  it('is not enough when there is nothing, or nothing sure', () => {
    expect(judge('anything', []).state).toBe('not-enough-evidence')
    expect(judge('steam engine', [item('steam engine', 0.05)]).state).toBe('not-enough-evidence')
  })

  it('names uncovered Chinese by the stretch that is missing', () => {
    expect(judge('法国总统是谁', [item('法国在欧洲。')]).uncovered).toEqual(['国总统是'])
  })

  it('is a conflict when comparable items give different numbers for the same fact', () => {
    const verdict = judge('height of the Hilden tower', [
      item('The Hilden tower has a height of 212 metres.'),
      item('The Hilden tower has a height of 198 metres.', 0.85),
    ])
    expect(verdict).toMatchObject({
      state: 'conflict',
      conflicts: [{ item: 0, other: 1, reason: 'different numbers: 212 metres and 198 metres' }],
    })
  })

  it('is a conflict when one denies what the other says, or dates what was asked for otherwise', () => {
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

  it('is a conflict when the same sentence names another, but not when the question names one of them', () => {
    const named = [item('Doctor Miller founded the institute.'), item('Doctor Sanchez founded the institute.')]
    expect(judge('who founded the institute', named).conflicts).toMatchObject([
      { reason: 'different names: Miller and Sanchez' },
    ])
    expect(judge('which institute did Miller found', named).conflicts).toEqual([])
  })

  it('is a conflict although the second of two alike has half of the score of the first', () => {
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

  it('is no conflict when the items speak of different years, things, or agree', () => {
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
