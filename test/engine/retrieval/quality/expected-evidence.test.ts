import { describe, expect, test } from 'vitest'
import { mayShareLanguage } from '../../../../src/engine/retrieval/quality/same-language.js'
import { generateMisspellings, looksLike } from '../../../../src/engine/retrieval/quality/spelling.js'
import { parseOpinion } from '../../../../src/engine/retrieval/quality/triage-model.js'
import { describeExpectedEvidence } from '../../../../src/engine/retrieval/query/question/expected-evidence.js'
import { isKindMissing, lacksKind } from '../../../../src/engine/retrieval/query/question/requested-kind.js'

describe('the expected evidence of a question', () => {
  test.each([
    [
      'How much is a berth in the harbour of Visby?',
      'a statement of the price or cost: a berth in the harbour of Visby',
    ],
    ['Who runs the kiosk?', 'a text that names the person or organisation: runs the kiosk'],
    ['In which year was the pier rebuilt?', 'a text that states a date or time: the pier rebuilt'],
    ['How do I descale the kettle?', 'a description of the steps: descale the kettle'],
    ['Why does the mill stand still?', 'an explanation of the reason: the mill stand still'],
    ['How many berths are there?', 'a statement of the number or amount: berths'],
    ['What is the phone number of the kiosk?', 'a phone number or an e-mail address: the kiosk'],
    [
      'Was kostet ein Liegeplatz im Hafen?',
      'eine Angabe des Preises oder der Kosten: Was kostet ein Liegeplatz im Hafen',
    ],
    [
      'Combien coûte une place dans le port ?',
      'une indication du prix ou du coût : Combien coûte une place dans le port',
    ],
    [
      '¿Quién dirige el quiosco del puerto?',
      'un texto que nombre a la persona o la organización: Quién dirige el quiosco del puerto',
    ],
    ['停车多少钱？', '说明价格或费用的文字：停车多少钱'],
    ['Berths in the harbour are let by the week.', 'a text about this: Berths in the harbour are let by the week'],
  ])('for "%s" reads "%s"', (question, text) => {
    expect(describeExpectedEvidence(question).map((one) => one.text)).toEqual([text])
  })

  test('covers each of several questions, and has the complete question as subject if it cannot be split', () => {
    expect(describeExpectedEvidence('When does the kiosk open, and who runs it?').map(({ kind }) => kind)).toEqual([
      'time',
      'person',
    ])
    expect(describeExpectedEvidence('潮汐是什么？')).toMatchObject([{ subject: '潮汐是什么' }])
    expect(describeExpectedEvidence('?')).toMatchObject([{ subject: '', text: 'a text' }])
  })
})

describe('the checks in the triage of failed queries', () => {
  test('words with one or two typos and forms of one word count as similar; other words do not', () => {
    expect(generateMisspellings('harbuor')).toContain('harbour')
    for (const [one, other] of [
      ['harbour', 'harbuor'],
      ['membership', 'membrshp'],
      ['reimbursable', 'reimbursement'],
    ] as const)
      expect(looksLike(one, other)).toBe(true)
    for (const [one, other] of [
      ['harbour', 'labour'],
      ['sun', 'son'],
      ['planet', 'planner'],
    ] as const)
      expect(looksLike(one, other)).toBe(false)
  })

  test('a passage lacks the answer type of a question, such as a number, only if it has nothing like it', () => {
    expect(lacksKind('number', 'The lens is cleaned with ethanol.')).toBe(true)
    expect(lacksKind('number', 'The lens is cleaned twice.')).toBe(false)
    expect(lacksKind('person', 'Lens\nThe lens is cleaned with ethanol.')).toBe(true)
    expect(lacksKind('person', 'The lens is cleaned by Oskar.')).toBe(false)
    expect(lacksKind('other', '')).toBe(false)
  })

  test('the answer type of a question counts as missing if no sentence near its subject contains it', () => {
    const about = (body: string, sentence = body) => [{ title: 'Cutter', body, sentence }]
    expect(isKindMissing('Who repairs the laser cutter?', about('The laser cutter cuts steel.'))).toBe(true)
    expect(isKindMissing('Who repairs the laser cutter?', about('The laser cutter is repaired by Oskar.'))).toBe(false)
    expect(isKindMissing('In which year was it bought?', about('It cuts 12 millimetres since March.'))).toBe(true)
    expect(isKindMissing('In which year was it bought?', about('It was bought in 1998.'))).toBe(false)
    expect(isKindMissing('How much does a cut cost?', about('Twelve cuts are made daily.'))).toBe(true)
    expect(isKindMissing('How much does a cut cost?', about('cut | 12\n| steel | 14 |'))).toBe(false)
    const far =
      'The laser cutter cuts steel. It is loud. It is hot. Doors are shut. Oskar Lind came in. By Oskar it is.'
    expect(isKindMissing('Who repairs the laser cutter?', about(far, 'The laser cutter cuts steel.'))).toBe(true)
    expect(isKindMissing('What is a laser?', about('It is loud.'))).toBe(false)
  })

  test('a question in another language than the space is distinguished from one in the same language', () => {
    const english = ['The harbour of Brest has a tidal range of six metres.']
    expect(mayShareLanguage('Who wrote the opera?', english)).toBe(true)
    expect(mayShareLanguage('Wie hoch ist der Tidenhub im Hafen?', english)).toBe(false)
    expect(mayShareLanguage('潮汐是什么', english)).toBe(false)
    expect(mayShareLanguage('潮汐是什么', ['潮汐由月亮引起。'])).toBe(true)
    expect(mayShareLanguage('Who wrote the opera?', ['Der Hafen hat einen Tidenhub von sechs Metern.'])).toBe(false)
  })
})

describe('the opinion of a model about a failed query', () => {
  test('parses from JSON and from prose, without passages that the model did not receive', () => {
    expect(parseOpinion('{"verdict": "answered", "passages": [2, 9, 2]}', 3)).toEqual({
      verdict: 'answered',
      passages: [1],
    })
    expect(parseOpinion('The question is Unrelated.', 3)).toEqual({ verdict: 'unrelated', passages: [] })
    expect(parseOpinion('I cannot say.', 3)).toBeUndefined()
  })
})
