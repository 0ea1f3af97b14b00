import { describe, expect, it } from 'vitest'
import {
  type CheckRequest,
  checkAnswer,
  createAnswerChecker,
  DECLINE,
} from '../../../../src/engine/knowledge/support/answer-check.js'
import { findMarkNumbers, removeMarks } from '../../../../src/engine/knowledge/support/support.js'

const TOWER = 'The tower of Brest is 40 metres high. It was built by Anna Keller from 1898 to 1902.'
const LAMP = 'The lamp was lit on 5 March 1908. It shines on Mondays, and costs 2.5 million francs a year.'
const PRICES = 'A ticket costs four euros. Children pay half.'
const request = (question: string, more: Partial<CheckRequest> = {}): CheckRequest => ({
  question,
  sources: new Map([TOWER, LAMP, PRICES].map((text, index) => [index + 1, { text, names: 'harbour.md' }])),
  ...more,
})
const HEIGHT = 'How high is the tower of Brest?'
const check = (answer: string, question = HEIGHT) => checkAnswer(answer, request(question))

describe('a statement in the answer of a model', () => {
  it.each([
    ['The tower is 40 metres high [1].', 'equal numbers'],
    ['It was built by Anna Keller [1].', 'equal names'],
    ['The lamp was lit on 5 March 1908 [2].', 'an equal date'],
    ['The lamp was lit on 1908-03-05 [2].', 'the same date in digits'],
    ['The lamp was lit in March 1908 [2].', 'a part of a date'],
    ['The lamp costs 2,500,000 francs each year [2].', 'the same number in digits'],
    ['A ticket costs 4 euros [3].', 'a number that the source spells out'],
    ['It shines on Mondays [2].', 'an equal weekday'],
    ['Der Turm ist 40 Meter hoch [1].', 'an equal number in another language'],
  ])('keeps its citation mark if a source supports it: %s (%s)', (said) => {
    expect(check(said)).toMatchObject({ checked: said, dropped: 0, isDeclined: false })
  })

  it.each([
    ['The tower is 41 metres high [1].', 'another number'],
    ['The tower is 1908 metres high [2].', 'a number of something else'],
    ['It was built by Anna Weber [1].', 'another name'],
    ['The lamp was lit on 5 April 1908 [2].', 'another month'],
    ['The lamp was lit on 1908-04-05 [2].', 'another date in digits'],
    ['It shines on Tuesdays [2].', 'another weekday'],
    ['The lamp costs 2.5 billion francs a year [2].', 'another scale'],
    ['A ticket costs five euros [3].', 'another number in words'],
    ['The harbour master paints boats in summer [1].', 'other words'],
    ['In 1999 the tower was 40 metres high [1].', 'another year'],
  ])('disappears from the answer if no source supports it: %s (%s)', (said) => {
    expect(check(said)).toMatchObject({ checked: '', dropped: 1, cited: [] })
  })

  it('gets the citation mark of the passage that supports it if it has no mark or the mark of another passage', () => {
    expect(check('The tower is 40 metres high.').checked).toBe('The tower is 40 metres high. [1]')
    expect(check('The tower is 40 metres high [2].')).toMatchObject({
      checked: 'The tower is 40 metres high. [1]',
      cited: [1],
    })
    expect(check('It is 40 metres high, and a ticket costs 4 euros.').cited).toEqual([1, 3])
  })

  it('loses citation marks that belong to no source', () => {
    expect(check('The tower is 40 metres high [1], not less [99].').checked).toBe(
      'The tower is 40 metres high [1], not less.',
    )
    expect(check('The tower is 40 metres high [1, 77].').checked).toBe('The tower is 40 metres high [1].')
  })
})

it('citation marks of an answer are found and removed outside of code only', () => {
  const text = 'Use `rows[0]` [2]:\n```\nrows[1] = 4\n```\nor not [3][2].'
  expect(findMarkNumbers(text)).toEqual([2, 3])
  expect(removeMarks(text)).toBe('Use `rows[0]`:\n```\nrows[1] = 4\n```\nor not.')
})

describe('an answer of a model', () => {
  it.each([
    ['The tower is 40 metres high [1]. **Children pay 9 euros [3].**', 'The tower is 40 metres high [1].'],
    ['**The tower is 40 metres high.** [1] *It is 7 metres wide [1].*', '**The tower is 40 metres high.** [1]'],
  ])('loses an unsupported emphasised sentence without its supported neighbour: %s', (said, checked) => {
    expect(check(said)).toMatchObject({ checked, dropped: 1 })
  })

  it('loses the statements that no source supports, and keeps its layout', () => {
    const answer = [
      '## Tower\n\nThe tower is 40 metres high [1]. It has 9 bells [1].',
      '',
      'Prices:',
      '- A ticket costs 99 euros [3].',
      '- A ticket costs four euros [3].',
      '- Children pay half [3].',
      '',
      '## Cellar',
      '',
      'The cellar holds 300 barrels [2].',
    ].join('\n')
    expect(check(answer)).toMatchObject({
      checked:
        '## Tower\n\nThe tower is 40 metres high [1].\n\nPrices:\n- A ticket costs four euros [3].\n- Children pay half [3].',
      dropped: 3,
      cited: [1, 3],
    })
  })

  it('loses an unsupported statement directly below a heading', () => {
    const answer = '## Tower\nThe tower is 90 metres high [1].\n\nThe tower is 40 metres high [1].'
    expect(check(answer)).toMatchObject({ checked: 'The tower is 40 metres high [1].', dropped: 1 })
  })

  it('loses the line before a list if no source supports the number in that line', () => {
    const answer = 'The tower has 77 windows, and prices are as follows:\n- A ticket costs four euros [3].'
    expect(check(answer)).toMatchObject({ checked: '- A ticket costs four euros [3].', dropped: 1 })
  })

  it('loses an unsupported row of a table written without spaces', () => {
    expect(check('|What|Price|\n|---|---|\n|ticket|7 euros|')).toMatchObject({ checked: '', dropped: 1 })
  })

  it('keeps the supported rows of a table below the table head', () => {
    const table = '| What | Price |\n|---|---|\n| ticket | four euros [3] |\n| dog | 7 euros [3] |'
    expect(check(table).checked).toBe('| What | Price |\n|---|---|\n| ticket | four euros [3] |')
  })

  it('does not depend on the chunks it arrives in, and is sent statement by statement', () => {
    const answer = 'Yes. The tower is 40 metres high. [1] It has 9 bells. It was built by Anna Keller [1].'
    const expected = check(answer).checked
    expect(expected).toBe('The tower is 40 metres high. [1] It was built by Anna Keller [1].')
    for (const size of [1, 2, 7, 30]) {
      const checker = createAnswerChecker(request(HEIGHT))
      const sent: string[] = []
      for (let at = 0; at < answer.length; at += size) sent.push(checker.take(answer.slice(at, at + size)))
      sent.push(checker.rest())
      expect(sent.join('')).toBe(expected)
      if (size === 1) expect(sent.filter((text) => text !== '')).toHaveLength(2)
    }
  })

  it('counts neither as supported nor as a decline if it only repeats the question', () => {
    for (const said of ['Yes [1].', 'The tower of Brest is high [1].', '[1]'])
      expect(check(said)).toMatchObject({ checked: '', isDeclined: false })
  })

  it.each([
    DECLINE,
    'The passages do not answer this [1].',
    'I cannot find the height of the tower in the given context [1][2].',
    'Unfortunately, there is no information about that. Please ask somebody else.',
    'Das steht dort nicht [2].',
    'Les passages ne permettent pas de répondre à cette question.',
    'Los pasajes no contienen la respuesta.',
    '文中没有提到这一点。',
    'Information not available',
  ])('counts as a decline if it is short and no source supports it, with or without citation marks: %s', (said) => {
    expect(check(said)).toMatchObject({ checked: '', isDeclined: true, cited: [] })
  })

  it('does not count as a decline if it claims a number or a name, or is long', () => {
    expect(check('It has 77 windows.').isDeclined).toBe(false)
    expect(check('It belongs to Gregor Samsa.').isDeclined).toBe(false)
    expect(check('Boats sail by. Gulls cry aloud. Waves break there. Children play games.').isDeclined).toBe(false)
  })

  it('keeps its supported part if it declines the rest of the question, and counts the decline as dropped', () => {
    expect(check(`The tower is 40 metres high [1]. ${DECLINE}`)).toMatchObject({
      checked: 'The tower is 40 metres high [1].',
      dropped: 1,
      isDeclined: false,
    })
  })

  it('cites nothing and counts as a decline if only the conversation supports it', () => {
    const talk = checkAnswer(
      'You asked about the kettle before.',
      request('What did I ask?', { context: ['Where is the kettle?'] }),
    )
    expect(talk).toMatchObject({ checked: '', isDeclined: true, text: 'You asked about the kettle before.' })
  })

  it('waits for a statement that agrees with a sure quotation, and is dropped if no statement agrees', () => {
    const quotation = { text: 'The tower of Brest is 40 metres high. [1]', isSure: true }
    const off = checkAnswer('It was built by Anna Keller [1]. Children pay half [3].', request(HEIGHT, { quotation }))
    expect(off).toMatchObject({ agrees: false, checked: '', cited: [], isDeclined: false })
    const unsure = { ...quotation, isSure: false }
    const sent = checkAnswer('Children pay half [3].', request(HEIGHT, { quotation: unsure }))
    expect(sent).toMatchObject({ agrees: false, checked: 'Children pay half [3].', cited: [3] })
    const on = checkAnswer('It was built by Anna Keller [1]. It is 40 metres high [1].', request(HEIGHT, { quotation }))
    expect(on).toMatchObject({
      agrees: true,
      checked: 'It was built by Anna Keller [1]. It is 40 metres high [1].',
      cited: [1],
    })
  })

  it('keeps supported statements before the one that agrees with the quotation, and loses unsupported ones', () => {
    const quotation = { text: 'The tower of Brest is 40 metres high.', isSure: true }
    const answer =
      'It was built by Anna Keller [1]. It has 77 windows. Children pay half [3]. It is 40 metres high [1].'
    expect(checkAnswer(answer, request(HEIGHT, { quotation }))).toMatchObject({
      checked: 'It was built by Anna Keller [1]. Children pay half [3]. It is 40 metres high [1].',
      cited: [1, 3],
      dropped: 1,
    })
  })

  it('passes unchecked if the answer may be in images', () => {
    const seen = checkAnswer('The picture shows 9 boats [1].', request(HEIGHT, { isUnchecked: true }))
    expect(seen).toMatchObject({ checked: 'The picture shows 9 boats [1].', cited: [1], dropped: 0 })
    const quotation = { text: 'The tower of Brest is 40 metres high.', isSure: true }
    const more = request(HEIGHT, { isUnchecked: true, quotation })
    expect(checkAnswer('The picture shows 9 boats [1].', more)).toMatchObject({ cited: [1] })
  })
})
