import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyzeDocument, analyzeQuery, forEachTerm } from '../../../src/lib/text/analyze.js'
import { analyzeLatin } from '../../../src/lib/text/hashed-terms.js'

describe('the text analyzer', () => {
  it('lower-cases, stems English words and removes stop words of documents', () => {
    expect(analyzeDocument('The Engines are running, and the engine ran')).toEqual(['engin', 'run', 'engin', 'ran'])
  })

  it('folds accents, ligatures and full-width letters', () => {
    expect(analyzeDocument('Café ﬁne ＡＢＣ')).toEqual(analyzeDocument('cafe fine abc'))
  })

  it('keeps words of other alphabets unchanged', () => {
    expect(analyzeDocument('Привет мир')).toEqual(['привет', 'мир'])
  })

  it('removes possessive endings and contractions', () => {
    expect(analyzeDocument("Darcy's wasn’t")).toEqual(['darci', 'wasn'])
  })

  it('reads a number with thousands separators as one term', () => {
    expect(analyzeDocument('1,577 and 12,345,678 but 1,5777')).toEqual(['1577', '12345678', '1', '5777'])
  })

  it('returns identifiers complete and in parts', () => {
    expect(analyzeDocument('getUserName')).toEqual(['getusernam', 'get', 'user', 'name'])
    expect(analyzeDocument('max_retry_count')).toEqual(['maxretrycount', 'max', 'retri', 'count'])
    expect(analyzeDocument('HTTPServer')).toEqual(['httpserver', 'http', 'server'])
  })

  it.each([
    ['C++ or C# or C', ['c++', 'c', 'c#', 'c', 'c']],
    ['AT&T and R&D, not cats&dogs', ['at&t', 't', 'r&d', 'r', 'd', 'cat', 'dog']],
    [
      '# Title, issue #12, page#part, 2+3, a + b, i++',
      ['titl', 'issu', '12', 'page', 'part', '2', '3', 'b', 'i++', 'i'],
    ],
    ['.NET, ASP.NET and (.env), not ...tide', ['.net', 'net', 'asp', 'net', '.env', 'env', 'tide']],
    ['A+ grades on Disney+, 18+, a+b', ['a+', 'grade', 'disney+', 'disnei', '18', 'b']],
    ['US$50, $ 50, 50 $, 50 €', ['us', '$50', '50', '$50', '50', '$50', '50', '€50', '50']],
    ['$1,577.50 or 1.5 € at 5 $10', ['$1577', '1577', '50', '1', '5', '5', '$10', '10']],
  ])('returns names and amounts with signs complete and in parts: %j', (text, terms) => {
    expect(analyzeDocument(text)).toEqual(terms)
    expect(analyzeLatin(text)).toEqual(terms)
    expect(new Set(analyzeQuery(text))).toEqual(new Set([...terms].filter((term) => term !== 'not')))
  })

  it('does not split brands and plural acronyms like identifiers', () => {
    expect(analyzeDocument('iPhone DNAs mRNA')).toEqual(['iphon', 'dna', 'mrna'])
  })

  it('pairs the characters of unspaced scripts and adds the single characters for one-character queries', () => {
    expect(analyzeDocument('中国首都')).toEqual(['中国', '国首', '首都', '中', '国', '首', '都'])
    expect(analyzeQuery('首')).toEqual(['首'])
    expect(analyzeDocument('𠀀𠀁x')).toEqual(['𠀀𠀁', 'x', '𠀀', '𠀁'])
  })

  it('returns only pairs of characters of unspaced scripts for embedding and reranking', () => {
    const terms: string[] = []
    forEachTerm('中国首都', (term) => terms.push(term))
    expect(terms).toEqual(['中国', '国首', '首都'])
  })

  it('keeps repeated query terms and removes question words', () => {
    expect(analyzeQuery('What is the capital of France, the capital?')).toEqual(['capit', 'franc', 'capit'])
    expect(analyzeQuery('法国的首都是什么？')).toEqual(['法国', '国的', '的首', '首都'])
  })

  it('keeps all words of a query that consists of stop words', () => {
    expect(analyzeQuery('The Who')).toEqual(['the', 'who'])
    expect(analyzeQuery('为什么')).toEqual(['为什', '什么'])
    expect(analyzeQuery(' ?! ')).toEqual([])
  })

  it('truncates very long runs', () => {
    expect(analyzeDocument('x'.repeat(10_000))).toEqual(['x'.repeat(64)])
  })

  it('returns the same terms for the same text, without white space, for any text', () => {
    const text = fc.oneof(
      fc.array(fc.integer({ min: 0, max: 0x10ffff })).map((codes) => String.fromCodePoint(...codes)),
      fc.string({ unit: fc.constantFrom(..."aB_'1,. 中ー\u0301\ud840") }),
    )
    fc.assert(
      fc.property(text, (value) => {
        const terms = analyzeDocument(value)
        expect(terms).toEqual(analyzeDocument(value))
        expect([...terms, ...analyzeQuery(value)].filter((term) => !/^\S+$/u.test(term))).toEqual([])
      }),
    )
  })

  it('returns query terms that the same words in a document have, for any words', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."abAB_1zé'中国") }), (word) => {
        const document = new Set(analyzeDocument(`${word} x`))
        for (const term of analyzeQuery(`${word} x`)) expect(document.has(term) || term.length < 4).toBe(true)
      }),
    )
  })
})
