import { describe, expect, it } from 'vitest'
import { analysePassage } from '../../../../src/engine/knowledge/derived/passage.js'
import { computeWeightedLength, measureFeatures, prepareQuery } from '../../../../src/engine/retrieval/query/rerank.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'

function featuresOf(query: string, title: string, body: string, idf: (term: string) => number = () => 1) {
  const passage = analysePassage({ key: 1, title, body })
  return measureFeatures(prepareQuery(analyzeQuery(query), idf), passage, computeWeightedLength(passage))
}

describe('the comparison of a passage with a query', () => {
  it('measures the part of the query that title, body and best sentence contain', () => {
    const features = featuresOf('red engine valve pump', 'Engine', 'A red valve. The pump was red and large.')
    expect(features).toMatchObject({ coverage: 1, titleCoverage: 0.25, bodyCoverage: 0.75, sentenceCoverage: 0.5 })
  })

  it('weighs rare terms more', () => {
    const idf = (term: string): number => (term === 'zebra' ? 9 : 1)
    expect(featuresOf('zebra walk', '', 'We walk.', idf).coverage).toBeCloseTo(0.1)
    expect(featuresOf('zebra walk', '', 'A zebra.', idf).coverage).toBeCloseTo(0.9)
  })

  it('counts neighbouring query terms as pairs, across dropped stop words', () => {
    const near = featuresOf('speed of light', '', 'The speed of light is constant.')
    const far = featuresOf('speed of light', '', 'Light bulbs and speed limits.')
    expect(near.pairs).toBeGreaterThan(0.6)
    expect(far.pairs).toBe(0)
    expect(featuresOf('light', '', 'Light bulbs.').pairs).toBe(1)
  })

  it('raises strength with repeated terms, by less for each, and lowers it for long passages', () => {
    const once = featuresOf('engine', '', 'engine').strength
    const twice = featuresOf('engine', '', 'engine engine').strength
    expect(twice).toBeGreaterThan(once)
    expect(twice).toBeLessThan(2 * once)
    const long = analysePassage({ key: 1, title: '', body: `engine ${'word '.repeat(50)}` })
    const query = prepareQuery(['engin'], () => 1)
    expect(measureFeatures(query, long, 10).strength).toBeLessThan(measureFeatures(query, long, 60).strength)
  })

  it('counts a complete rewording of a term, with less weight than the term', () => {
    const rewordings = [{ queryTerms: ['urlaubsanspruch'], documentTerms: ['urlaub', 'anspruch'] }]
    const query = prepareQuery(['urlaubsanspruch', 'tag'], () => 1, rewordings)
    const coverageOf = (body: string) =>
      measureFeatures(query, analysePassage({ key: 1, title: '', body }), 10).coverage
    expect(coverageOf('Urlaub und Anspruch')).toBeLessThan(coverageOf('Urlaubsanspruch'))
    expect(coverageOf('Urlaub und Anspruch')).toBeGreaterThan(0.3)
    expect(coverageOf('Urlaub Urlaub')).toBe(0)
    const parts = prepareQuery(['anspruch', 'urlaub'], () => 1, [
      { queryTerms: ['anspruch', 'urlaub'], documentTerms: ['urlaubsanspruch'] },
    ])
    const compound = measureFeatures(parts, analysePassage({ key: 1, title: '', body: 'Der Urlaubsanspruch' }), 10)
    const half = measureFeatures(parts, analysePassage({ key: 1, title: '', body: 'Der Urlaub' }), 10)
    expect(compound.sentenceCoverage).toBeGreaterThan(half.sentenceCoverage)
    expect(compound.pairs).toBeGreaterThan(0)
    expect(half.pairs).toBe(0)
    // A compound forms no pair with its own part.
    const beside = measureFeatures(parts, analysePassage({ key: 1, title: '', body: 'Urlaub, Urlaubsanspruch' }), 10)
    expect(beside.pairs).toBeCloseTo(compound.pairs)
  })

  it('gives a higher score to an earlier first match', () => {
    expect(featuresOf('engine', '', `engine ${'word '.repeat(30)}`).earliness).toBe(1)
    expect(featuresOf('engine', '', `${'word '.repeat(20)} engine`).earliness).toBeCloseTo(0.5)
    expect(featuresOf('engine', 'engine', 'nothing').earliness).toBe(0)
  })

  it('measures the coverage of Chinese queries', () => {
    expect(featuresOf('法国首都', '法国', '法国首都是巴黎。')).toMatchObject({ coverage: 1, sentenceCoverage: 1 })
  })

  it('returns no coverage for an empty query or passage', () => {
    for (const [query, body] of [
      ['', 'text here'],
      ['', ''],
      ['engine', ''],
    ] as const)
      expect(featuresOf(query, '', body)).toMatchObject({ coverage: 0, titleCoverage: 0, bodyCoverage: 0 })
  })
})

describe('the formulas of passage features', () => {
  const passage = (title: string, body: string) => analysePassage({ key: 1, title, body })
  const of = (terms: string[], weights: Record<string, number>, title: string, body: string, average?: number) => {
    const read = passage(title, body)
    return measureFeatures(
      prepareQuery(terms, (term) => weights[term] ?? 1),
      read,
      average ?? computeWeightedLength(read),
    )
  }

  it('count the length of a passage as its body and twice its title', () => {
    expect(computeWeightedLength(passage('lamp post', 'iron lamp glass'))).toBe(7)
    expect(computeWeightedLength(passage('', ''))).toBe(0)
  })

  it('weigh matches by the curve of BM25, title matches double, and long passages less', () => {
    const curve = (count: number, length: number) => count / (count + 1.2 * (0.25 + 0.75 * length))
    expect(of(['lamp'], {}, '', 'lamp').strength).toBeCloseTo(curve(1, 1), 10)
    expect(of(['lamp'], {}, '', 'lamp lamp lamp').strength).toBeCloseTo(curve(3, 1), 10)
    expect(of(['lamp'], {}, 'lamp', 'iron').strength).toBeCloseTo(curve(2, 1), 10)
    expect(of(['lamp'], {}, 'lamp', 'lamp').strength).toBeCloseTo(curve(3, 1), 10)
    expect(of(['lamp'], {}, '', 'lamp iron glass post', 2).strength).toBeCloseTo(curve(1, 2), 10)
    // An average of 0 counts as one word.
    expect(of(['lamp'], {}, '', 'lamp iron', 0).strength).toBeCloseTo(curve(1, 2), 10)
    const two = { lamp: 3, iron: 1 }
    expect(of(['lamp', 'iron'], two, '', 'lamp').strength).toBeCloseTo((3 / 4) * curve(1, 1), 10)
  })

  it('compute coverage from the weights of the found terms, each once', () => {
    const weights = { lamp: 6, iron: 3, post: 1 }
    const features = of(['lamp', 'iron', 'post', 'lamp'], weights, 'Post', 'Iron rusts. A lamp and a lamp.')
    expect(features.coverage).toBeCloseTo(1, 10)
    expect(features.titleCoverage).toBeCloseTo(0.1, 10)
    expect(features.bodyCoverage).toBeCloseTo(0.9, 10)
    expect(features.sentenceCoverage).toBeCloseTo(0.6, 10)
  })

  it('ignore terms with a negative weight', () => {
    const features = of(['lamp', 'iron'], { lamp: 2, iron: -5 }, '', 'Iron and lamp.')
    expect(features.coverage).toBe(1)
    expect(of(['lamp', 'iron'], { lamp: 2, iron: -5 }, '', 'Iron.').coverage).toBe(0)
    const nothing = of(['lamp'], { lamp: -1 }, '', 'lamp')
    expect(nothing).toMatchObject({ coverage: 0, strength: 0, sentenceCoverage: 0 })
  })

  it('weigh a pair of terms as its weaker term, more if the pair repeats, and at most 1 in total', () => {
    const terms = ['lamp', 'post', 'iron']
    const weights = { lamp: 4, post: 2, iron: 1 }
    // Pairs weigh 2 and 1; a pair found once counts two thirds of its weight.
    expect(of(terms, weights, '', 'lamp post').pairs).toBeCloseTo(2 / (3 * 1.5), 10)
    expect(of(terms, weights, '', 'post iron').pairs).toBeCloseTo(1 / (3 * 1.5), 10)
    expect(of(terms, weights, '', 'lamp post, glass, lamp post').pairs).toBeCloseTo((2 * (1 + Math.LN2)) / 4.5, 10)
    expect(of(terms, weights, '', 'lamp post iron').pairs).toBeCloseTo(3 / 4.5, 10)
    expect(of(terms, weights, '', 'lamp post iron '.repeat(9)).pairs).toBe(1)
    expect(of(terms, weights, '', 'post lamp').pairs).toBe(0)
    expect(of(terms, weights, '', 'lamp glass post').pairs).toBe(0)
    expect(of(['lamp', 'lamp'], {}, '', 'lamp lamp glass').pairs).toBe(1)
  })

  it('lower earliness from 1 with each term before the first match, to a half after twenty', () => {
    expect(of(['lamp'], {}, '', 'lamp').earliness).toBe(1)
    expect(of(['lamp'], {}, '', 'glass lamp lamp').earliness).toBeCloseTo(20 / 21, 10)
    expect(of(['lamp'], {}, '', `${'glass '.repeat(60)}lamp`).earliness).toBeCloseTo(0.25, 10)
  })

  it('count a rewording as three quarters of the term', () => {
    const rewordings = [{ queryTerms: ['urlaubstag'], documentTerms: ['urlaub', 'tag'] }]
    const query = prepareQuery(['urlaubstag'], () => 2, rewordings)
    const coverage = (title: string, body: string) => measureFeatures(query, passage(title, body), 5).coverage
    expect(coverage('', 'Urlaub, Tag')).toBeCloseTo(0.75, 10)
    expect(coverage('Urlaub', 'Tag')).toBeCloseTo(0.75, 10)
    expect(coverage('', 'Urlaubstag Urlaub Tag')).toBe(1)
    expect(coverage('', 'Urlaub')).toBe(0)
  })
})
