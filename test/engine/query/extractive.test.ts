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
    expect(sentences.map(({ text }) => text)).toEqual(
      expect.arrayContaining([
        'James Watt improved the steam engine in 1769.',
        'About 40 engines drained the mines of Cornwall.',
      ]),
    )
    const places = sentences.map(({ evidenceIndex }) => evidenceIndex)
    expect(places).toEqual([...places].sort())
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

/** The first sentence of the answer to a question about these texts. */
const first = (query: string, ...texts: string[]) =>
  extractiveAnswer({ query, evidence: texts.map((text) => ({ title: '', text })), idf }).sentences[0]?.text

describe('the sentence that answers', () => {
  it('is the one with the kind of thing that was asked for, not the one beside it', () => {
    const library =
      'The library of Elmstead has a reading room. The reading room of the library opens at 9 am. It seats 120.'
    expect(first('When does the reading room of the library open?', library)).toContain('9 am')
    const bridge =
      'The old bridge crosses the river Orne. The bridge was closed because its piers had moved. Boats still pass.'
    expect(first('Why was the bridge closed?', bridge)).toContain('because')
    const desk = 'The desk lends tools to members. Tools are kept in the cellar of the town hall. Members pay nothing.'
    expect(first('Where are the tools kept?', desk)).toContain('cellar')
  })

  it('is told in German, French and Spanish', () => {
    const halle = 'Die Halle hat drei Tore. Die Miete der Halle beträgt 40 Euro am Tag. Die Halle liegt am Hafen.'
    expect(first('Wie hoch ist die Miete der Halle?', halle)).toContain('40 Euro')
    const salle = 'La salle a trois portes. La salle ferme à 22 h en semaine. La salle est au port.'
    expect(first('Quand ferme la salle ?', salle)).toContain('22 h')
    const sala = 'La sala tiene tres puertas. La sala cerró porque se inundó el sótano. La sala está en el puerto.'
    expect(first('¿Por qué cerró la sala?', sala)).toContain('porque')
  })

  it('speaks of the name that was asked for where any passage does, by its text, title or file', () => {
    const evidence = [
      { title: 'Annual report', text: 'Net sales were 14,694 million in fiscal 2023.', source: 'amcor-2023.pdf' },
      { title: 'Annual report', text: 'Sales grew to 66,608 million over the year.', source: 'boeing-2022.pdf' },
    ]
    const { sentences } = extractiveAnswer({ query: 'What were the net sales of Boeing?', evidence, idf })
    expect(sentences.map(({ evidenceIndex }) => evidenceIndex)).toEqual([1])
  })

  it('concludes, where a claim or a yes or no is asked about', () => {
    const abstract =
      'It is unknown whether zinc lozenges shorten colds. We examined whether zinc lozenges shorten colds in 300 adults. Our results show that zinc lozenges shorten colds by a day.'
    expect(first('Do zinc lozenges shorten colds?', abstract)).toContain('Our results show')
    expect(first('Zinc lozenges shorten colds in adults', abstract)).toContain('Our results show')
  })
})

describe('a list', () => {
  const PERMITS =
    'You may need several permits. These are the permits for a garage:\n\n- a planning permit\n- a fire certificate, 40 euros\n- an approval of the neighbours\n\nFees are paid at the desk.'

  it('answers whole where several things are asked for', () => {
    const told =
      'These are the permits for a garage: a planning permit; a fire certificate, 40 euros; an approval of the neighbours.'
    expect(first('Which permits are needed for a garage?', PERMITS)).toBe(told)
    expect(first('What are the permits for a garage?', PERMITS)).toBe(told)
  })

  it('answers with the entry that was asked for, and what the list is of', () => {
    expect(first('How much is the fire certificate for a garage?', PERMITS)).toBe(
      'These are the permits for a garage: a fire certificate, 40 euros',
    )
  })

  it('that is long is cut, and says so', () => {
    const parts = Array.from({ length: 40 }, (_, i) => `* part number ${i}`).join('\n')
    const told = first('What are the parts of the kit?', `Parts of the kit:\n${parts}`)
    expect(told).toMatch(/^Parts of the kit: part number 0; .*; …$/)
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
    expect(answerType('How much does a ticket cost?')).toBe('money')
    expect(answerType('How long does the visit take?')).toBe('duration')
    expect(answerType('What percentage of members vote?')).toBe('percent')
    expect(answerType('Why did it close?')).toBe('reason')
    expect(answerType('Does the ticket cover the tram?')).toBe('truth')
    expect(answerType('Which company made it?')).toBe('name')
    expect(answerType('Wann öffnet die Halle?')).toBe('time')
    expect(answerType('Wie viele Menschen wohnen dort?')).toBe('number')
    expect(answerType('Warum wurde sie geschlossen?')).toBe('reason')
    expect(answerType('Où est la mairie ?')).toBe('place')
    expect(answerType('Combien coûte le billet ?')).toBe('money')
    expect(answerType('¿Cuándo abre la sala?')).toBe('time')
    expect(answerType('¿Quién dirige el museo?')).toBe('person')
    expect(answerType('为什么关闭？')).toBe('reason')
    expect(answerType('这条河又称为什么？')).toBe('name')
  })

  it('is not met by what the question names itself', () => {
    expect(holdsAnswerOf('time', 'It opened in 1969.', 'When in 1969 did it open?')).toBe(false)
    expect(holdsAnswerOf('time', 'It opened in May 1969.', 'When in 1969 did it open?')).toBe(true)
    expect(holdsAnswerOf('person', 'It was made by Watt.', 'Who made it?')).toBe(true)
    expect(holdsAnswerOf('any', 'It was made by Watt.', 'Watt')).toBe(false)
  })
})
