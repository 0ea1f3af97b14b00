import { describe, expect, it } from 'vitest'
import { analysePassage } from '../../../src/engine/derived/passage.js'
import { measure, prepareQuery, weighedLength } from '../../../src/engine/query/rerank.js'
import { analyzeQuery } from '../../../src/lib/text/analyze.js'

function featuresOf(query: string, title: string, body: string, idf: (term: string) => number = () => 1) {
  const passage = analysePassage({ key: 1, title, body })
  return measure(prepareQuery(analyzeQuery(query), idf), passage, weighedLength(passage))
}

describe('comparing a passage with a query', () => {
  it('measures how much of the query title, body and best sentence hold', () => {
    const features = featuresOf('red engine valve pump', 'Engine', 'A red valve. The pump was red and large.')
    expect(features).toMatchObject({ coverage: 1, titleCoverage: 0.25, bodyCoverage: 0.75, sentenceCoverage: 0.5 })
  })

  it('weighs terms by how telling they are', () => {
    const idf = (term: string): number => (term === 'zebra' ? 9 : 1)
    expect(featuresOf('zebra walk', '', 'We walk.', idf).coverage).toBeCloseTo(0.1)
    expect(featuresOf('zebra walk', '', 'A zebra.', idf).coverage).toBeCloseTo(0.9)
  })

  it('sees neighbouring query terms as neighbours, over dropped stop words', () => {
    const near = featuresOf('speed of light', '', 'The speed of light is constant.')
    const far = featuresOf('speed of light', '', 'Light bulbs and speed limits.')
    expect(near.pairs).toBeGreaterThan(0.6)
    expect(far.pairs).toBe(0)
    expect(featuresOf('light', '', 'Light bulbs.').pairs).toBe(1)
  })

  it('counts repeated terms for more, with less for each, and long passages for less', () => {
    const once = featuresOf('engine', '', 'engine').strength
    const twice = featuresOf('engine', '', 'engine engine').strength
    expect(twice).toBeGreaterThan(once)
    expect(twice).toBeLessThan(2 * once)
    const long = analysePassage({ key: 1, title: '', body: `engine ${'word '.repeat(50)}` })
    const query = prepareQuery(['engin'], () => 1)
    expect(measure(query, long, 10).strength).toBeLessThan(measure(query, long, 60).strength)
  })

  it('counts what is said in other words, all of it, as less than the words themselves', () => {
    const rewordings = [{ asked: ['urlaubsanspruch'], told: ['urlaub', 'anspruch'] }]
    const query = prepareQuery(['urlaubsanspruch', 'tag'], () => 1, rewordings)
    const coverageOf = (body: string) => measure(query, analysePassage({ key: 1, title: '', body }), 10).coverage
    expect(coverageOf('Urlaub und Anspruch')).toBeLessThan(coverageOf('Urlaubsanspruch'))
    expect(coverageOf('Urlaub und Anspruch')).toBeGreaterThan(0.3)
    expect(coverageOf('Urlaub Urlaub')).toBe(0)
    const parts = prepareQuery(['anspruch', 'urlaub'], () => 1, [
      { asked: ['anspruch', 'urlaub'], told: ['urlaubsanspruch'] },
    ])
    const compound = measure(parts, analysePassage({ key: 1, title: '', body: 'Der Urlaubsanspruch' }), 10)
    const half = measure(parts, analysePassage({ key: 1, title: '', body: 'Der Urlaub' }), 10)
    expect(compound.sentenceCoverage).toBeGreaterThan(half.sentenceCoverage)
    expect(compound.pairs).toBeGreaterThan(0)
    expect(half.pairs).toBe(0)
    // a compound is no neighbour of its own
    const beside = measure(parts, analysePassage({ key: 1, title: '', body: 'Urlaub, Urlaubsanspruch' }), 10)
    expect(beside.pairs).toBeCloseTo(compound.pairs)
  })

  it('prefers an early first match', () => {
    expect(featuresOf('engine', '', `engine ${'word '.repeat(30)}`).earliness).toBe(1)
    expect(featuresOf('engine', '', `${'word '.repeat(20)} engine`).earliness).toBeCloseTo(0.5)
    expect(featuresOf('engine', 'engine', 'nothing').earliness).toBe(0)
  })

  it('works on Chinese', () => {
    expect(featuresOf('法国首都', '法国', '法国首都是巴黎。')).toMatchObject({ coverage: 1, sentenceCoverage: 1 })
  })

  it('gives nothing for an empty query or passage', () => {
    expect(Object.values(featuresOf('', '', 'text here'))).toEqual(Object.values(featuresOf('', '', '')))
    expect(featuresOf('engine', '', '').coverage).toBe(0)
  })
})
