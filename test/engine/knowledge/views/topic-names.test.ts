import { describe, expect, it } from 'vitest'
import { termHash } from '../../../../src/engine/knowledge/derived/passage.js'
import { findTopicName } from '../../../../src/engine/knowledge/views/topic-names.js'
import { nameTopics } from '../../../../src/engine/knowledge/views/topics.kernel.js'
import { forEachTerm } from '../../../../src/lib/text/analyze.js'

function hashes(words: string): number[] {
  const found: number[] = []
  forEachTerm(words, (term) => found.push(termHash(term)))
  return found
}

const document = (text: string, title = '', headings: string[] = []) => ({ title, headings, texts: [text] })

describe('names of topics', () => {
  it('consist of complete phrases of the documents, in their most frequent spelling', () => {
    const documents = [
      document('A heat pump takes warmth from the air. The heat pump is quiet.'),
      document('Each heat pump needs 2 kW. In 2020 they sold 40 heat pumps.'),
    ]
    expect(findTopicName({ terms: hashes('pump heat warmth'), documents })?.toLowerCase()).toMatch(/^heat pumps?$/)
  })

  it('prefer words of titles and headings', () => {
    const documents = [1, 2, 3].map(() => document('The kiln is hot and the glaze runs.', 'Pottery course', ['Kiln']))
    expect(findTopicName({ terms: hashes('kiln glaze pottery course'), documents })).toMatch(
      /^(?:Kiln|Pottery course)$/,
    )
  })

  it('exclude stop words, numbers, verbs and headings that every document has', () => {
    const documents = [1, 2].map(() =>
      document('What it is about in 1999: the ferry and its timetable.', 'Introduction'),
    )
    const name = findTopicName({ terms: hashes('introduction 1999 ferry timetable'), documents })
    expect(name).toMatch(/^(?:Ferry|Timetable)$/)
  })

  it('stay undefined without a distinctive term, and are different for two topics', () => {
    expect(findTopicName({ terms: hashes('volcano'), documents: [document('Nothing of that.')] })).toBeUndefined()
    const twin = (other: string) => ({
      terms: hashes(`ferry ${other}`),
      documents: [document(`The ferry. A ferry. Ferry and ${other}.`), document(`Ferry, ferry; ${other}.`)],
    })
    const names = nameTopics([twin('harbour'), twin('ticket')]).map(({ name }) => name)
    expect(new Set(names).size).toBe(2)
  })
})
