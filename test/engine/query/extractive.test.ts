import { describe, expect, it } from 'vitest'
import { answerType } from '../../../src/engine/query/answer-type.js'
import { holdsAnswerOf } from '../../../src/engine/query/extractive/answer-signs.js'
import { extractiveAnswer } from '../../../src/engine/query/extractive.js'

const idf = (): number => 3

const EVIDENCE = [
  {
    title: 'Steam engine',
    text: 'Steam engines were common in mines. James Watt improved the steam engine in 1769. It was a success.',
  },
  { title: 'Mines', text: 'Mines of that time were deep. About 40 engines drained the mines of Cornwall.' },
]

const answer = (query: string) => extractiveAnswer({ query, evidence: EVIDENCE, idf })

describe('the extractive answer', () => {
  it('quotes the sentence that answers, with its mark', () => {
    expect(answer('Who improved the steam engine?').text).toBe('James Watt improved the steam engine in 1769. [1]')
    expect(answer('When was the steam engine improved?').sentences).toEqual([
      { text: 'James Watt improved the steam engine in 1769.', evidenceIndex: 0 },
    ])
    expect(answer('How many engines drained the mines?').text).toBe(
      'About 40 engines drained the mines of Cornwall. [2]',
    )
  })

  it('adds a sentence for what the first leaves open, in reading order', () => {
    const { sentences } = answer('mines of Cornwall drained, steam engine improved by Watt')
    expect(sentences.map(({ evidenceIndex }) => evidenceIndex)).toEqual([0, 1])
  })

  it('puts wrapped lines together', () => {
    const evidence = [{ title: '', text: 'The bridge\nis   400 metres long.' }]
    expect(extractiveAnswer({ query: 'how long is the bridge', evidence, idf }).text).toBe(
      'The bridge is 400 metres long. [1]',
    )
  })

  it('answers in Chinese', () => {
    const evidence = [{ title: '法国', text: '法国位于欧洲西部。法国的首都是巴黎。人口约有6800万。' }]
    expect(extractiveAnswer({ query: '法国的首都是哪里？', evidence, idf }).text).toBe('法国的首都是巴黎。 [1]')
  })

  it('says nothing when nothing holds a word of the question', () => {
    expect(answer('quantum chromodynamics')).toEqual({ sentences: [], text: '' })
    expect(extractiveAnswer({ query: 'x', evidence: [], idf })).toEqual({ sentences: [], text: '' })
    expect(answer('')).toEqual({ sentences: [], text: '' })
  })

  it('quotes the evidence word for word, never the same sentence twice', () => {
    const doubled = [...EVIDENCE, ...EVIDENCE]
    const { sentences } = extractiveAnswer({ query: 'steam engine mines Cornwall 1769', evidence: doubled, idf })
    for (const { text, evidenceIndex } of sentences) expect(doubled[evidenceIndex]?.text).toContain(text)
    expect(new Set(sentences.map(({ text }) => text)).size).toBe(sentences.length)
  })
})

describe('the kind of answer a question wants', () => {
  it('is told from its words', () => {
    expect(answerType('Who wrote it?')).toBe('person')
    expect(answerType('In what year did it begin?')).toBe('time')
    expect(answerType('how many people live there')).toBe('number')
    expect(answerType('Where is it?')).toBe('place')
    expect(answerType('What is osmosis?')).toBe('definition')
    expect(answerType('《战国无双3》是由谁开发的？')).toBe('person')
    expect(answerType('哪一年成立？')).toBe('time')
    expect(answerType('有多少人？')).toBe('number')
    expect(answerType('steam pressure limits')).toBe('any')
  })

  it('is not met by what the question names itself', () => {
    expect(holdsAnswerOf('time', 'It opened in 1969.', 'When in 1969 did it open?')).toBe(false)
    expect(holdsAnswerOf('time', 'It opened in May 1969.', 'When in 1969 did it open?')).toBe(true)
    expect(holdsAnswerOf('person', 'It was made by Watt.', 'Who made it?')).toBe(true)
    expect(holdsAnswerOf('any', 'It was made by Watt.', 'Watt')).toBe(false)
  })
})
